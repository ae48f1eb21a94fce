"""IS-MCTS at every infostate of Leduc: how exploitable it is (Student of Games, table S5)."""

from experiments.ismcts_leduc._study import Settings as Settings
from experiments.ismcts_leduc._study import main as main
