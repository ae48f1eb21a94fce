"""1-KLSS at every infoset: exploitability before and after (Zhang & Sandholm 2021, table 1)."""

from experiments.klss_table1._table import main as main
