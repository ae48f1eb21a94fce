"""Every main program lowers for CPU, GPU and TPU: no callback, no custom call of one device."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

import jaxsolve as js
from experiments.devices._builders import SMALL, Program, loop
from jaxsolve import holdem

PLATFORMS = ("cpu", "cuda", "tpu")
RIVER = {
    "board": "Ts9s8s2h3c",
    "pot": 100,
    "stack": 150,
    "oop": "JJ,77,AKo,QJs",
    "ip": "TT,66,AQo,KJs",
    "sizes": {"bet": ["50%"], "raise": ["a"]},
}


def spot(board: str, platform: str) -> Program:
    found = holdem.Spot.parse({**RIVER, "board": board})
    return loop(holdem.spot_tree(found, operator="dense").tree, js.cfr_plus())


PROGRAMS = SMALL | {
    "a river": functools.partial(spot, "Ts9s8s2h3c"),
    "a turn": functools.partial(spot, "Ts9s8s2h"),
}


@pytest.mark.parametrize(
    "name", few(PROGRAMS, lambda name: name != "a training step, sound self-play")
)
def test_program_lowers_for_every_kind_of_device(name: str, monkeypatch: pytest.MonkeyPatch):
    # On a CPU a search has operators in C++ where other devices have loops; JAX exports no such.
    monkeypatch.setenv("JAXSOLVE_NATIVE", "0")
    function, arguments = PROGRAMS[name]("tpu" if name.startswith("CFR+") else "gpu")
    made = jax.export.export(function, platforms=PLATFORMS)(*arguments)
    assert made.platforms == PLATFORMS
    doubles = [x for x in jax.tree.leaves(made.out_avals) if x.dtype in (np.float64, np.int64)]
    assert not doubles
    assert "f64>" not in made.mlir_module()
    assert "python_cpu_callback" not in made.mlir_module()


def test_a_host_callback_is_caught():
    def call(x: Any) -> Any:
        return jax.ffi.ffi_call("only_here", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

    with pytest.raises(ValueError, match="only_here"):
        jax.export.export(jax.jit(call), platforms=PLATFORMS)(jnp.ones(3))
