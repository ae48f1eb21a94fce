"""Monte Carlo CFR: samplers that stand in for the exact values of the CFR loop."""

from jaxsolve.solvers.sampling._curve import NodePoint as NodePoint
from jaxsolve.solvers.sampling._curve import node_curve as node_curve
from jaxsolve.solvers.sampling._curve import nodes_touched as nodes_touched
from jaxsolve.solvers.sampling._external import ExternalSampling as ExternalSampling
from jaxsolve.solvers.sampling._outcome import OutcomeSampling as OutcomeSampling
from jaxsolve.solvers.sampling._public_chance import PublicChanceSampling as PublicChanceSampling
