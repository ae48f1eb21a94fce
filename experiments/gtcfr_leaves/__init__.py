"""Growing-tree search with leaves worth nothing and with solved ones, on Leduc and glasses."""

from experiments.gtcfr_leaves._study import Settings as Settings
from experiments.gtcfr_leaves._study import main as main
