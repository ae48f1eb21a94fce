"""Options of programs that the suite compiles in another way than `conftest.py` says."""

from __future__ import annotations

from typing import Any

OPTIMISED: dict[str, Any] = {
    "xla_backend_optimization_level": 3,
    "xla_llvm_disable_expensive_passes": False,
}
"""For `jax.jit(..., compiler_options=)`: a program that runs for seconds is better off with it."""
