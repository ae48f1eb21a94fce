"""Depth-limited search with multi-valued states: Modicum and Pluribus."""

from jaxsolve.search.depth._generate import self_generated as self_generated
from jaxsolve.search.depth._nested import depth_limited as depth_limited
from jaxsolve.search.depth._path import ModicumSearch as ModicumSearch
from jaxsolve.search.depth._path import PluribusSearch as PluribusSearch
from jaxsolve.search.depth._pluribus import pluribus as pluribus
from jaxsolve.search.depth._sample import SampledValues as SampledValues
from jaxsolve.search.depth._sample import with_sampled_values as with_sampled_values
from jaxsolve.search.depth._search import DepthLimited as DepthLimited
from jaxsolve.search.depth._search import DepthSearch as DepthSearch
from jaxsolve.search.depth._translation import neighbours as neighbours
from jaxsolve.search.depth._translation import pseudo_harmonic as pseudo_harmonic
from jaxsolve.search.depth._translation import translate as translate
