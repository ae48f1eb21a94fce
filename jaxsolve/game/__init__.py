"""The rules of a game, and how games are found by name."""

from jaxsolve.game._agent import Agent as Agent
from jaxsolve.game._agent import Decision as Decision
from jaxsolve.game._agent import Observation as Observation
from jaxsolve.game._openspiel import OpenSpielGame as OpenSpielGame
from jaxsolve.game._openspiel import import_pyspiel as import_pyspiel
from jaxsolve.game._openspiel import is_pyspiel_game as is_pyspiel_game
from jaxsolve.game._openspiel import load_openspiel as load_openspiel
from jaxsolve.game._openspiel import wrap_openspiel as wrap_openspiel
from jaxsolve.game._pgx import PgxGame as PgxGame
from jaxsolve.game._pgx import load_pgx as load_pgx
from jaxsolve.game._protocol import Game as Game
from jaxsolve.game._protocol import State as State
from jaxsolve.game._registry import Entry as Entry
from jaxsolve.game._registry import Reference as Reference
from jaxsolve.game._registry import format_name as format_name
from jaxsolve.game._registry import load as load
from jaxsolve.game._registry import registered as registered
from jaxsolve.game._strings import pointing as pointing
from jaxsolve.game._strings import read as read
from jaxsolve.game._strings import split as split
from jaxsolve.game._strings import unknown as unknown
