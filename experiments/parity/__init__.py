"""CFR and CFR+ on Leduc beside OpenSpiel, and how many digits rounding leaves to agree on."""

from experiments.parity._parity import main as main
