"""The named solvers, one file per paper, and their table."""

from __future__ import annotations

from jaxsolve.solvers._solver import Variant
from jaxsolve.solvers.variants.cfr import cfr as cfr
from jaxsolve.solvers.variants.cfr import cfr_plus as cfr_plus
from jaxsolve.solvers.variants.dcfr import dcfr as dcfr
from jaxsolve.solvers.variants.dcfr import dcfr_plus as dcfr_plus
from jaxsolve.solvers.variants.dcfr import lcfr as lcfr
from jaxsolve.solvers.variants.mccfr import es_mccfr as es_mccfr
from jaxsolve.solvers.variants.mccfr import os_mccfr as os_mccfr
from jaxsolve.solvers.variants.mccfr import pcs_mccfr as pcs_mccfr
from jaxsolve.solvers.variants.mmd import mmd as mmd
from jaxsolve.solvers.variants.modicum import modicum_cfr_plus as modicum_cfr_plus
from jaxsolve.solvers.variants.pcfr import apcfr_plus as apcfr_plus
from jaxsolve.solvers.variants.pcfr import pcfr_plus as pcfr_plus
from jaxsolve.solvers.variants.pcfr import pdcfr_plus as pdcfr_plus
from jaxsolve.solvers.variants.pcfr import sapcfr_plus as sapcfr_plus
from jaxsolve.solvers.variants.scheduled import hs_dcfr as hs_dcfr
from jaxsolve.solvers.variants.scheduled import hs_pcfr_plus as hs_pcfr_plus

SOLVERS: dict[str, Variant] = {
    "cfr": Variant(cfr, "regret matching, uniform average", "Zinkevich et al. 2007"),
    "cfr+": Variant(cfr_plus, "clipped regrets, linear average", "Tammelin 2014"),
    "lcfr": Variant(lcfr, "linear CFR, DCFR(1, 1, 1)", "Brown & Sandholm 2019"),
    "dcfr": Variant(dcfr, "discounted CFR", "Brown & Sandholm 2019"),
    "dcfr+": Variant(dcfr_plus, "discounted and clipped", "Xu et al. 2024"),
    "pcfr+": Variant(pcfr_plus, "predicts the last regret", "Farina et al. 2021"),
    "sapcfr+": Variant(sapcfr_plus, "predicts a third of it", "arXiv 2503.12770"),
    "apcfr+": Variant(apcfr_plus, "adapts the prediction per infoset", "arXiv 2503.12770"),
    "pdcfr+": Variant(pdcfr_plus, "predictive and discounted", "Xu et al. 2024"),
    "hs-dcfr": Variant(hs_dcfr, "DCFR under a schedule", "Zhang et al. 2024"),
    "hs-pcfr+": Variant(hs_pcfr_plus, "PCFR+ with a scheduled average", "Zhang et al. 2024"),
    "modicum-cfr+": Variant(modicum_cfr_plus, "CFR+, late average", "Brown et al. 2018"),
    "mmd": Variant(mmd, "magnetic mirror descent, last iterate", "Sokota et al. 2023"),
}
"""Every solver by name; the table the command line, the tests and the study run through."""

SAMPLERS: dict[str, Variant] = {
    "es-mccfr": Variant(es_mccfr, "external sampling", "Lanctot et al. 2009"),
    "os-mccfr": Variant(os_mccfr, "outcome sampling", "Lanctot et al. 2009"),
    "pcs-mccfr": Variant(pcs_mccfr, "public chance sampling", "Johanson et al. 2012"),
}
"""Every sampled solver by name; apart from SOLVERS, whose iterations are exact."""
