"""What the whole suite needs: one kind of device, and JAX and hypothesis at their strictest."""

from __future__ import annotations

import os

# Before JAX is imported. `JAX_PLATFORMS=cuda make test` runs the suite on a GPU.
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import hypothesis
import jax

jax.config.update("jax_legacy_prng_key", "error")  # jax.random.key only
jax.config.update("jax_debug_key_reuse", True)  # a key used twice is an error

# The first example of a test compiles, so time limits say nothing; the same examples every time.
hypothesis.settings.register_profile("suite", deadline=None, derandomize=True, print_blob=True)
hypothesis.settings.load_profile("suite")
