"""What hold'em blueprints must reach: passes a second, gains of training, and bounds on losses."""

from experiments.blueprint_bars._study import COLUMNS as COLUMNS
from experiments.blueprint_bars._study import Plan as Plan
from experiments.blueprint_bars._study import main as main
