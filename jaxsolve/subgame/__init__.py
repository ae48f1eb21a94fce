"""Subgames: cutting them out, and the gadgets that make re-solving them safe."""

from jaxsolve.subgame._build import Noise as Noise
from jaxsolve.subgame._build import Options as Options
from jaxsolve.subgame._floor import action_floor as action_floor
from jaxsolve.subgame._knowledge import independent_set as independent_set
from jaxsolve.subgame._knowledge import knowledge_sizes as knowledge_sizes
from jaxsolve.subgame._places import Places as Places
from jaxsolve.subgame._solve import Solution as Solution
from jaxsolve.subgame._trees import SubgameInfo as SubgameInfo
from jaxsolve.subgame._trees import cut as cut
from jaxsolve.subgame._trees import klss as klss
from jaxsolve.subgame._trees import levels as levels
from jaxsolve.subgame._trees import maxmargin as maxmargin
from jaxsolve.subgame._trees import resolve as resolve
from jaxsolve.subgame._trees import root_infostates as root_infostates
from jaxsolve.subgame._trees import solve_subgames as solve_subgames
from jaxsolve.subgame._trees import unsafe as unsafe
from jaxsolve.subgame._trees import write as write
