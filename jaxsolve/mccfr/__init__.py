"""Sampled CFR on tables [sequence, bucket]: the work of a pass is what it touches."""

from jaxsolve.mccfr._external import ExternalSampler as ExternalSampler
from jaxsolve.mccfr._external import Options as Options
from jaxsolve.mccfr._game import Deals as Deals
from jaxsolve.mccfr._game import PotPayoffs as PotPayoffs
from jaxsolve.mccfr._game import SampledGame as SampledGame
from jaxsolve.mccfr._game import TablePayoffs as TablePayoffs
from jaxsolve.mccfr._listed import ListedGame as ListedGame
from jaxsolve.mccfr._listed import listed_game as listed_game
from jaxsolve.mccfr._native import pots_native as pots_native
from jaxsolve.mccfr._random import mix as mix
from jaxsolve.mccfr._random import pass_key as pass_key
from jaxsolve.mccfr._tables import Tables as Tables
from jaxsolve.mccfr._tables import as_float as as_float
from jaxsolve.mccfr._tables import entries_of as entries_of
from jaxsolve.mccfr._tables import load_tables as load_tables
from jaxsolve.mccfr._tables import make_tables as make_tables
from jaxsolve.mccfr._tables import matched as matched
from jaxsolve.mccfr._tables import save_tables as save_tables
from jaxsolve.mccfr._tables import table_bytes as table_bytes
from jaxsolve.mccfr._train import CHECKPOINT as CHECKPOINT
from jaxsolve.mccfr._train import Trained as Trained
from jaxsolve.mccfr._train import train as train
from jaxsolve.mccfr._tree import ActionTree as ActionTree
