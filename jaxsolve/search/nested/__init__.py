"""Nested safe re-solving of subgames."""

from jaxsolve.search.nested._blueprint import cfr_blueprint as cfr_blueprint
from jaxsolve.search.nested._blueprint import lp_blueprint as lp_blueprint
from jaxsolve.search.nested._nested import Nested as Nested
from jaxsolve.search.nested._nested import nested as nested
from jaxsolve.search.nested._path import NestedSearch as NestedSearch
