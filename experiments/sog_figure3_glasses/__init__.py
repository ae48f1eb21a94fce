"""Exploitability of sound self-play on a small Scotland Yard, beside figure 3."""

from experiments._sog import Settings as Settings
from experiments.sog_figure3_glasses._study import main as main
