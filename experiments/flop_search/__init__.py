"""What a depth-limited search of a flop leaves to be won, beside flops solved to the end."""

from experiments.flop_search._study import Plan as Plan
from experiments.flop_search._study import main as main
