"""Figures from arrays and names (with the extra `plot`, but for trees); knows no other folder."""

from jaxsolve.plot._curve import curve as curve
from jaxsolve.plot._figure import new_figure as new_figure
from jaxsolve.plot._growing import growing_tree as growing_tree
from jaxsolve.plot._strategy import strategy as strategy
from jaxsolve.plot._tree import Svg as Svg
from jaxsolve.plot._tree import tree_svg as tree_svg
