"""Monte Carlo CFR: samplers that stand in for the exact values of the CFR loop."""

from jaxsolve.solve.sampling._curve import NodePoint as NodePoint
from jaxsolve.solve.sampling._curve import node_curve as node_curve
from jaxsolve.solve.sampling._curve import nodes_touched as nodes_touched
from jaxsolve.solve.sampling._external import ExternalSampling as ExternalSampling
from jaxsolve.solve.sampling._outcome import OutcomeSampling as OutcomeSampling
from jaxsolve.solve.sampling._public_chance import PublicChanceSampling as PublicChanceSampling
