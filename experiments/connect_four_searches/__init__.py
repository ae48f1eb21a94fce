"""Searches of `sog_connect_four` with its recorded network, on other and more positions."""

from experiments.connect_four_searches._study import main as main
