"""Student of Games against PimBot in Scotland Yard, London, beside the published row."""

from experiments.sog_scotland_yard._settings import Settings as Settings
from experiments.sog_scotland_yard._study import main as main
