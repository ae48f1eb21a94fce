"""Training of value networks on batches of solved subgames (`pip install "jaxsolve[learn]"`)."""

from jaxsolve.learn._data import Examples as Examples
from jaxsolve.learn._data import Source as Source
from jaxsolve.learn._data import draw_beliefs as draw_beliefs
from jaxsolve.learn._data import random_beliefs as random_beliefs
from jaxsolve.learn._data import self_play as self_play
from jaxsolve.learn._data import solved as solved
from jaxsolve.learn._plan import Plan as Plan
from jaxsolve.learn._presets import PRESETS as PRESETS
from jaxsolve.learn._presets import Preset as Preset
from jaxsolve.learn._presets import preset as preset
from jaxsolve.learn._queries import mixed as mixed
from jaxsolve.learn._queries import search_queries as search_queries
from jaxsolve.learn._sound import SelfPlaySettings as SelfPlaySettings
from jaxsolve.learn._sound import sound_self_play as sound_self_play
from jaxsolve.learn._train import NonFiniteError as NonFiniteError
from jaxsolve.learn._train import Trained as Trained
from jaxsolve.learn._train import TrainState as TrainState
from jaxsolve.learn._train import loss as loss
from jaxsolve.learn._train import train as train
from jaxsolve.learn._validate import Errors as Errors
from jaxsolve.learn._validate import HeldOut as HeldOut
from jaxsolve.learn._validate import errors as errors
from jaxsolve.learn._validate import held_out as held_out
