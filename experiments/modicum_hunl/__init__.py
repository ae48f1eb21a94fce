"""Agents that search heads-up no-limit hold'em against the blueprint that they search from."""

from experiments.modicum_hunl._study import Plan as Plan
from experiments.modicum_hunl._study import main as main
