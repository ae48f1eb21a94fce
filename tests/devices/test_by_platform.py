"""What is chosen by platform, where choices lie within choices."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from jaxsolve.devices import by_platform
from jaxsolve.types import Array


def test_a_choice_within_a_choice_is_made_already():
    asked = []

    def found(number: float) -> Array:
        asked.append(number)
        return jnp.float32(number)

    def within(number: float) -> Array:
        return by_platform(cpu=lambda: found(number + 1), default=lambda: found(number + 2))

    def program() -> Array:
        return by_platform(cpu=lambda: within(10), default=lambda: within(20)) * within(30)

    traced = jax.jit(program).trace()
    assert sorted(asked) == [11, 22, 31, 32]
    for platform, product in (("cpu", 11 * 31), ("cuda", 22 * 32), ("tpu", 22 * 32)):
        text = traced.lower(lowering_platforms=(platform,)).compiler_ir("hlo").as_hlo_text()
        numbers = [float(x.split(")")[0]) for x in text.split("constant(")[1:]]
        assert jnp.prod(jnp.array(numbers)) == product


def test_a_choice_that_fails_leaves_later_ones_free():
    def fails() -> Array:
        raise ValueError("no program")

    def either() -> Array:
        return by_platform(cpu=lambda: jnp.float32(1), default=lambda: jnp.float32(2))

    with pytest.raises(ValueError, match="no program"):
        jax.jit(lambda: by_platform(cpu=fails, default=either))()
    assert float(jax.jit(either)()) == 1 + (jax.default_backend() != "cpu")
    assert "2.0" in jax.jit(either).trace().lower(lowering_platforms=("tpu",)).as_text()
