"""Search: re-solving on the way down a game, and what it makes of a blueprint."""

from jaxsolve.search._blueprint import cfr_blueprint as cfr_blueprint
from jaxsolve.search._blueprint import lp_blueprint as lp_blueprint
from jaxsolve.search._nested import Nested as Nested
from jaxsolve.search._nested import nested as nested
