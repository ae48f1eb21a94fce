"""What main programs compile to for an H100 and for this CPU, without a GPU."""

from experiments.devices._study import RESULTS as RESULTS
from experiments.devices._study import main as main
