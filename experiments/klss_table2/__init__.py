"""How far knowledge reaches: mean sizes of knowledge sets (Zhang & Sandholm 2021, table 2)."""

from experiments.klss_table2._table import main as main
