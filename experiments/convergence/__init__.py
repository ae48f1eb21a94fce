"""Every solver on eleven games: exploitability after 100, 1,000 and 10,000 iterations."""

from experiments.convergence._cells import PARTS as PARTS
from experiments.convergence._cells import SOLVERS as SOLVERS
from experiments.convergence._cells import Cell as Cell
from experiments.convergence._cells import Part as Part
from experiments.convergence._conventions import nudged as nudged
from experiments.convergence._measure import compiled as compiled
from experiments.convergence._measure import exploitability64 as exploitability64
from experiments.convergence._measure import measure as measure
from experiments.convergence._study import RESULTS as RESULTS
from experiments.convergence._study import main as main
