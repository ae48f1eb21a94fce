"""Agents (`jaxsolve.game.Agent`): pairs of `init` and `act` over policies, searches and people."""

from jaxsolve.agents._fixed import decide as decide
from jaxsolve.agents._fixed import fixed as fixed
from jaxsolve.agents._fixed import uniform as uniform
from jaxsolve.agents._person import person as person
from jaxsolve.agents._resolving import resolving as resolving
from jaxsolve.agents._searching import depth_limited as depth_limited
from jaxsolve.agents._searching import nested as nested
from jaxsolve.agents._searching import pluribus as pluribus
