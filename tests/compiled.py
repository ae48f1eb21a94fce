"""What the suite says about compiled programs: other options than `conftest.py`'s, and counts."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import jax

OPTIMISED: dict[str, Any] = {
    "xla_backend_optimization_level": 3,
    "xla_llvm_disable_expensive_passes": False,
}
"""For `jax.jit(..., compiler_options=)`: a program that runs for seconds is better off with it."""


MADE = "/jax/core/compile/"
TRACED, COMPILED = f"{MADE}jaxpr_trace_duration", f"{MADE}backend_compile_duration"


@contextlib.contextmanager
def counted(*events: str) -> Iterator[list[str]]:
    """Collects the names of the programs of which JAX reports events that begin so."""
    found: list[str] = []

    def listen(event: str, seconds: float, **details: Any) -> None:
        if event.startswith(events):
            found.append(str(details.get("fun_name")))

    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        yield found
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
