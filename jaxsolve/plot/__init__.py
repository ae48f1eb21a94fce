"""Figures from results (needs the extra `plot`)."""

from jaxsolve.plot._curve import curve as curve
from jaxsolve.plot._growing import growing_tree as growing_tree
from jaxsolve.plot._range import range_grid as range_grid
from jaxsolve.plot._range import range_strategy as range_strategy
from jaxsolve.plot._strategy import strategy as strategy
