"""Public states as one model: listed in a table, or grown from the rules."""

from jaxsolve.public._card_game import Limit as Limit
from jaxsolve.public._card_game import PublicGame as PublicGame
from jaxsolve.public._card_game import actions_limit as actions_limit
from jaxsolve.public._card_game import hands_of as hands_of
from jaxsolve.public._card_game import no_limit as no_limit
from jaxsolve.public._card_game import policy_of as policy_of
from jaxsolve.public._card_game import public_game as public_game
from jaxsolve.public._card_game import round_limit as round_limit
from jaxsolve.public._card_game import table_of as table_of
from jaxsolve.public._listed import ListedModel as ListedModel
from jaxsolve.public._listed import listed_model as listed_model
from jaxsolve.public._model import Followable as Followable
from jaxsolve.public._model import Followed as Followed
from jaxsolve.public._model import PublicModel as PublicModel
from jaxsolve.public._rules import RulesModel as RulesModel
from jaxsolve.public._rules import rules_model as rules_model
from jaxsolve.public._states import Described as Described
from jaxsolve.public._states import PublicState as PublicState
from jaxsolve.public._states import StateFormat as StateFormat
from jaxsolve.public._states import unit_of as unit_of
from jaxsolve.public._table import PublicTable as PublicTable
from jaxsolve.public._table import public_table as public_table
from jaxsolve.public._transitions import Transitions as Transitions
from jaxsolve.public._worlds import Worlds as Worlds
