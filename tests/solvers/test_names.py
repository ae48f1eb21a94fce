"""Solvers by name: what strings mean, and where a message points."""

from __future__ import annotations

import jax
import pytest

import jaxsolve as js
from jaxsolve.solvers.variants import SAMPLERS, SOLVERS


def leaves(solver: js.Solver) -> list[float]:
    return [float(x) for x in jax.tree.leaves(solver)]


@pytest.mark.parametrize("name", [*SOLVERS, *SAMPLERS])
def test_every_name_loads(name: str) -> None:
    solver = js.load_solver(name)
    assert solver.name == name
    assert solver.alternating
    assert not js.load_solver(name, simultaneous=True).alternating


@pytest.mark.parametrize(
    ("text", "alpha", "beta", "gamma"),
    [
        ("dcfr", 1.5, 0, 2),
        ("dcfr()", 1.5, 0, 2),
        ("dcfr(2)", 2, 0, 2),
        (" dcfr( 1, gamma = 4 ) ", 1, 0, 4),
        ("dcfr(gamma=3,alpha=-1,beta=.5)", -1, 0.5, 3),
    ],
)
def test_hyper_parameters(text: str, alpha: float, beta: float, gamma: float) -> None:
    given = js.load_solver(text)
    built = js.dcfr(alpha=float(alpha), beta=float(beta), gamma=float(gamma))
    assert leaves(given) == leaves(built)
    # So that every string of one solver runs the same compiled program.
    assert jax.tree.structure(given) == jax.tree.structure(js.dcfr())


def test_whole_numbers_and_flags_stay_what_they_are() -> None:
    solver = js.load_solver("es-mccfr(batch=8,linear=true)")
    assert solver.sampler.batch == 8
    assert jax.tree.structure(solver) == jax.tree.structure(js.es_mccfr(batch=8, linear=True))


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("dcfr(alpha=1", 13, r"expected a closing '\)'"),
        ("dcfr[alpha]", 5, r"expected '\(' or the end"),
        ("(alpha=1)", 1, r"expected a solver name such as pcfr\+"),
        ("dcfr(alpha=)", 6, "expected key=value"),
        ("dcfr(alpha=1,alpha=2)", 14, "alpha is given twice"),
        ("dcfr(1,alpha=2)", 8, "alpha is given twice"),
        ("dcfr(gamma=1,2)", 14, "values without a name come first"),
        ("dcfr(1,delta=2)", 8, "no hyper-parameter 'delta'; it takes alpha=1.5, beta=0.0, gamma"),
        ("cfr(1)", 5, "no hyper-parameter number 1; it takes none"),
        ("dcfr(gamma=two)", 6, "gamma should be a number of at least 0, not 'two'"),
        ("dcfr(gamma=1e999)", 6, "gamma should be a number of at least 0, not inf"),
        ("es-mccfr(batch=1.5)", 10, "batch should be a whole number from 1 to 16,777,216, not 1.5"),
        ("es-mccfr(linear=1)", 10, "linear should be true or false, not 1"),
    ],
)
def test_messages_point_at_what_is_wrong(text: str, position: int, says: str) -> None:
    with pytest.raises(ValueError, match=says) as error:
        js.load_solver(text)
    first, given, arrow = str(error.value).splitlines()
    assert first.startswith(f"wrong solver string at character {position}: ")
    assert given == f"  {text}"
    assert arrow.index("^") - 2 == position - 1


def test_unknown_solvers_list_the_known_ones() -> None:
    with pytest.raises(ValueError, match=r"Did you mean 'pcfr\+'\? Known solvers: ") as error:
        js.load_solver("pcfr")
    assert all(name in str(error.value) for name in SOLVERS)
