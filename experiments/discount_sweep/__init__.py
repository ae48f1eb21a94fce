"""DCFR's (alpha, beta, gamma) over 600 settings on three games, each in one batched call."""

from experiments.discount_sweep._sweep import GAMES as GAMES
from experiments.discount_sweep._sweep import RESULTS as RESULTS
from experiments.discount_sweep._sweep import Grid as Grid
from experiments.discount_sweep._sweep import main as main
