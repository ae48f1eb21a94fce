"""Search: re-solving on the way down a game, and what it makes of a blueprint."""

from jaxsolve.search._blueprint import cfr_blueprint as cfr_blueprint
from jaxsolve.search._blueprint import lp_blueprint as lp_blueprint
from jaxsolve.search._depth_generate import self_generated as self_generated
from jaxsolve.search._nested import Nested as Nested
from jaxsolve.search._nested import nested as nested
from jaxsolve.search._translation import neighbours as neighbours
from jaxsolve.search._translation import pseudo_harmonic as pseudo_harmonic
from jaxsolve.search._translation import translate as translate
