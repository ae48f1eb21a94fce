"""Exploitability of growing-tree search on Leduc, beside figure 3 of Student of Games."""

from experiments.sog_figure3_leduc._study import Settings as Settings
from experiments.sog_figure3_leduc._study import main as main
