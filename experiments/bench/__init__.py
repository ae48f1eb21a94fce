"""Speed of CFR+ on seven games, beside OpenSpiel and LiteEFG in the same run."""

from experiments.bench._bench import RESULTS as RESULTS
from experiments.bench._bench import main as main
from experiments.bench._kernels import LoopBody as LoopBody
from experiments.bench._kernels import loop_body as loop_body
