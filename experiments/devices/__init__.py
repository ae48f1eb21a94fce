"""What main programs compile to for an H100, a TPU and this CPU, without either."""

from experiments.devices._study import RESULTS as RESULTS
from experiments.devices._study import main as main
