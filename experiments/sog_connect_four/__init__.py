"""Connect four by Student of Games: optimal moves by an exact solver, beside mctx's searches."""

from experiments.sog_connect_four._study import Settings as Settings
from experiments.sog_connect_four._study import main as main
