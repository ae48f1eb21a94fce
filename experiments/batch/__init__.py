"""256 Leducs in one call against one: other payoffs, or other discounts."""

from experiments.batch._batch import RESULTS as RESULTS
from experiments.batch._batch import main as main
