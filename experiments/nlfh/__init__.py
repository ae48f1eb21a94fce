"""No-limit flop hold'em whole: exploitability in mbb/g by iteration, without card abstraction."""

from experiments.nlfh._nlfh import main as main
