"""Rock-paper-scissors+ at depth one: one value at the limit fails, three are enough (Modicum)."""

from experiments.modicum_rps._study import main as main
