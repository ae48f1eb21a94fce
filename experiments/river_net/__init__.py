"""River values from a network: its errors, and turns solved with it beside exact ones."""

from experiments.river_net._study import Settings as Settings
from experiments.river_net._study import main as main
