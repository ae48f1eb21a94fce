"""The rules of a game, and how games are found by name."""

from jaxsolve.game._protocol import Game as Game
from jaxsolve.game._protocol import State as State
from jaxsolve.game._registry import Entry as Entry
from jaxsolve.game._registry import Reference as Reference
from jaxsolve.game._registry import format_name as format_name
from jaxsolve.game._registry import load as load
from jaxsolve.game._registry import registered as registered
