"""Drift of float32 against float64 for every solver, and what its average adds to it."""

from experiments.precision._study import RESULTS as RESULTS
from experiments.precision._study import Plan as Plan
from experiments.precision._study import main as main
