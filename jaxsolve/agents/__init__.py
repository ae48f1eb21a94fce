"""Agents (`jaxsolve.game.Agent`): pairs of `init` and `act` over policies, searches and people."""

from jaxsolve.agents._beliefs import Mind as Mind
from jaxsolve.agents._board import AgentPlayer as AgentPlayer
from jaxsolve.agents._board import notation_of as notation_of
from jaxsolve.agents._determinized import determinized as determinized
from jaxsolve.agents._engine import EngineError as EngineError
from jaxsolve.agents._engine import GtpEngine as GtpEngine
from jaxsolve.agents._engine import UciEngine as UciEngine
from jaxsolve.agents._engine_values import EngineValues as EngineValues
from jaxsolve.agents._fixed import decide as decide
from jaxsolve.agents._fixed import fixed as fixed
from jaxsolve.agents._fixed import uniform as uniform
from jaxsolve.agents._knowledge import klss as klss
from jaxsolve.agents._knowledge import obscuro as obscuro
from jaxsolve.agents._openings import read_openings as read_openings
from jaxsolve.agents._person import person as person
from jaxsolve.agents._ratings import ratings as ratings
from jaxsolve.agents._resolving import Thought as Thought
from jaxsolve.agents._resolving import resolving as resolving
from jaxsolve.agents._searching import depth_limited as depth_limited
from jaxsolve.agents._searching import nested as nested
from jaxsolve.agents._searching import pluribus as pluribus
from jaxsolve.agents._thresholded import thresholded as thresholded
from jaxsolve.agents._tournament import Entrant as Entrant
from jaxsolve.agents._tournament import Rules as Rules
from jaxsolve.agents._tournament import tournament as tournament
