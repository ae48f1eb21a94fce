"""Agents: pairs of `init` and `act` over policies and searches."""

from jaxsolve.agents._protocol import Agent as Agent
from jaxsolve.agents._protocol import Decision as Decision
from jaxsolve.agents._protocol import View as View
