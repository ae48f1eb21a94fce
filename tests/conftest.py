"""What the whole suite needs: one kind of device, and JAX and hypothesis at their strictest."""

from __future__ import annotations

import os
from pathlib import Path

# Before JAX is imported, and for the programs that tests start. What is set already stays:
# `JAX_PLATFORMS=cuda make test` runs the suite on a GPU.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Most of the time is compilation: of small programs that run briefly, so they are not optimised,
# and of the same ones as in the run before. Workers do not share a cache: entries are written in
# place, and the lock that comes with a size limit lists the whole cache at each write.
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)
os.environ.setdefault(
    "JAX_COMPILATION_CACHE_DIR",
    str(
        Path(__file__).parent.parent
        / ".pytest_cache"
        / "jax"
        / os.environ.get("PYTEST_XDIST_WORKER", "main")
    ),
)
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")

import hypothesis
import jax

jax.config.update("jax_legacy_prng_key", "error")  # jax.random.key only
jax.config.update("jax_debug_key_reuse", True)  # a key used twice is an error

# The first example of a test compiles, so time limits say nothing; the same examples every time.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("suite")
