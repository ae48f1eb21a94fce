"""Six-player no-limit hold'em: a searcher at a table of the blueprints that it searches from."""

from experiments.pluribus_six._study import Plan as Plan
from experiments.pluribus_six._study import main as main
