"""Continual re-solving as one state machine, over any search engine."""

from jaxsolve.search.resolving._beliefs import TRACE as TRACE
from jaxsolve.search.resolving._beliefs import BeliefSubgame as BeliefSubgame
from jaxsolve.search.resolving._beliefs import Gadget as Gadget
from jaxsolve.search.resolving._beliefs import no_gadget as no_gadget
from jaxsolve.search.resolving._beliefs import root_reach as root_reach
from jaxsolve.search.resolving._machine import Below as Below
from jaxsolve.search.resolving._machine import ResolvingState as ResolvingState
from jaxsolve.search.resolving._machine import SearchEngine as SearchEngine
from jaxsolve.search.resolving._machine import advance as advance
from jaxsolve.search.resolving._machine import at_focus as at_focus
from jaxsolve.search.resolving._machine import at_root as at_root
from jaxsolve.search.resolving._machine import choose as choose
from jaxsolve.search.resolving._machine import follow as follow
from jaxsolve.search.resolving._machine import init as init
from jaxsolve.search.resolving._machine import search as search
from jaxsolve.search.resolving._machine import subgame_of as subgame_of
from jaxsolve.search.resolving._resolve_game import resolve_game as resolve_game
from jaxsolve.search.resolving._resolver import Resolver as Resolver
from jaxsolve.search.resolving._resolver import check_alpha as check_alpha
