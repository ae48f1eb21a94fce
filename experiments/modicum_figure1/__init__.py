"""Answering a bet off the tree with multi-valued states (Modicum, figure 1)."""

from experiments.modicum_figure1._study import main as main
