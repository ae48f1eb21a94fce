"""Safe re-solving of coarse strategies, and of bets off the tree (Brown & Sandholm 2017)."""

from experiments.safe_subgames._study import main as main
