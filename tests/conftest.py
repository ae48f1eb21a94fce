"""What the whole suite needs: one kind of device, JAX and hypothesis at their strictest, memory."""

from __future__ import annotations

import ctypes
import gc
import importlib.metadata
import os
from collections.abc import Iterator
from pathlib import Path

# Before JAX is imported, and for the programs that tests start. What is set already stays:
# `JAX_PLATFORMS=cuda make test` runs the suite on a GPU.
os.environ.setdefault("JAX_PLATFORMS", "cpu")
# Most of the time is compilation: of small programs that run briefly, so they are not optimised,
# and of the same ones as in the run before. Workers do not share a cache: entries are written in
# place, and the lock that comes with a size limit lists the whole cache at each write.
# The older way to compile fused operations, which jaxlib 0.11 no longer has, takes a third less.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
    + " --xla_cpu_use_fusion_emitters=false"
    * importlib.metadata.version("jaxlib").startswith("0.10."),
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
import pytest

jax.config.update("jax_legacy_prng_key", "error")  # jax.random.key only
if "JAX_DEBUG_KEY_REUSE" not in os.environ:  # `make test-slow` goes without: a sixth of the time
    jax.config.update("jax_debug_key_reuse", True)  # a key used twice is an error

# The first example of a test compiles, so time limits say nothing; the same examples every time.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("suite")


@pytest.fixture(scope="module", autouse=True)
def memory_is_returned(request: pytest.FixtureRequest) -> Iterator[None]:
    """Empties the caches of a module's functions and of JAX after the module's last test.

    Compiled programs take up to a gigabyte a module. The allocator keeps what is freed in small
    pieces, so it is told to return it to the system.
    """
    yield
    for value in list(vars(request.module).values()):
        if clear := getattr(value, "cache_clear", None):
            clear()
    jax.clear_caches()
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # glibc only
        trim(0)
