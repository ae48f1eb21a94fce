"""What the parts of Pluribus are worth, on three-player Leduc and on six-player hold'em."""

from experiments.pluribus_parts._study import Plan as Plan
from experiments.pluribus_parts._study import main as main
