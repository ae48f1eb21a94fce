"""C++ operators for CPUs."""

from jaxsolve.native._build import LEAVES as LEAVES
from jaxsolve.native._build import SWEEP as SWEEP
from jaxsolve.native._build import available as available
