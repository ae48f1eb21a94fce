"""Depth-limited search: one street of hold'em, and a choice of continuations where it ends."""

from jaxsolve.holdem.limited._game import LimitedHoldem as LimitedHoldem
from jaxsolve.holdem.limited._search import LimitedResult as LimitedResult
from jaxsolve.holdem.limited._search import SearchBegin as SearchBegin
from jaxsolve.holdem.limited._search import limited_game as limited_game
from jaxsolve.holdem.limited._search import search as search
from jaxsolve.holdem.limited._tree import Beyond as Beyond
from jaxsolve.holdem.limited._tree import beyond as beyond
from jaxsolve.holdem.limited._tree import followed as followed
from jaxsolve.holdem.limited._tree import street_menu as street_menu
from jaxsolve.holdem.limited._tree import subgame_tree as subgame_tree
from jaxsolve.holdem.limited._tree import tree_beyond as tree_beyond
from jaxsolve.holdem.limited._values import blueprint_values as blueprint_values
from jaxsolve.holdem.limited._values import continuation_values as continuation_values
