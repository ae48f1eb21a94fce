"""Figures from results (needs the extra `plot`)."""

from jaxsolve.plot._curve import curve as curve
from jaxsolve.plot._strategy import strategy as strategy
