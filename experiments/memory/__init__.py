"""What `jaxsolve solve --dry-run` announces against what the run then takes."""

from experiments.memory._memory import RESULTS as RESULTS
from experiments.memory._memory import main as main
