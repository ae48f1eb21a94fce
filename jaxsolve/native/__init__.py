"""C++ for CPUs: operators of XLA, and libraries for NumPy code."""

from jaxsolve.native._build import DOWN as DOWN
from jaxsolve.native._build import LEAVES as LEAVES
from jaxsolve.native._build import PUT as PUT
from jaxsolve.native._build import REACH as REACH
from jaxsolve.native._build import ROWS as ROWS
from jaxsolve.native._build import SORT as SORT
from jaxsolve.native._build import UP as UP
from jaxsolve.native._build import available as available
from jaxsolve.native._build import build as build
from jaxsolve.native._build import host_library as host_library
