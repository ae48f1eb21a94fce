"""Exploitability of sound self-play on Leduc, beside figure 3 of Student of Games."""

from experiments._sog import Settings as Settings
from experiments.sog_figure3_leduc._study import main as main
