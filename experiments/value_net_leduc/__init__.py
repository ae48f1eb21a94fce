"""Continual re-solving of Leduc with a value network: exploitability against training time."""

from experiments.value_net_leduc._study import Settings as Settings
from experiments.value_net_leduc._study import main as main
