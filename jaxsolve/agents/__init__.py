"""Agents: pairs of `init` and `act` over policies and searches."""

from jaxsolve.agents._fixed import fixed as fixed
from jaxsolve.agents._fixed import uniform as uniform
from jaxsolve.agents._protocol import Agent as Agent
from jaxsolve.agents._protocol import Decision as Decision
from jaxsolve.agents._protocol import View as View
from jaxsolve.agents._resolving import resolving as resolving
