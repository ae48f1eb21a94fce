"""Regret minimizers: pure functions of `[A, ...]` arrays that know nothing of trees."""

from jaxsolve.regret._matching import adaptive_regret_matching as adaptive_regret_matching
from jaxsolve.regret._matching import follows_from_regret as follows_from_regret
from jaxsolve.regret._matching import normalise as normalise
from jaxsolve.regret._matching import regret_matching as regret_matching
from jaxsolve.regret._minimizer import Coefficients as Coefficients
from jaxsolve.regret._minimizer import Minimizer as Minimizer
from jaxsolve.regret._minimizer import Static as Static
from jaxsolve.regret._minimizer import Step as Step
from jaxsolve.regret._mirror import mirror_descent as mirror_descent
