"""Faults per thousand: random games, malformed inputs, kills, sanitizers."""

from experiments.reliability._reliability import main as main
