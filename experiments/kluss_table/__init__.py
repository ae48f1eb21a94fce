"""KLSS beside KLUSS: exploitability of both, on card games and small boards of dark chess."""

from experiments.kluss_table._table import main as main
