"""Which libraries there are, how they are built, and for which processors a wheel has them.

Nothing of jaxsolve or JAX is imported here: the build of a wheel runs without them.
"""

from __future__ import annotations

import hashlib
import platform
from pathlib import Path

FILES = {
    "holdem": (
        ("leaves.cc",),
        ("boards.h", "lanes.h", "pool.h"),
    ),
    "growing": (("growing.cc",), ("growing.h",)),
    "spots": (
        # Those that take the compiler longest first: two are built at a time.
        ("spot_solve.cc", "spot_pass.cc", "spot_measure.cc", "spot_tables.cc", "spot_leaves.cc"),
        (
            *("boards.h", "lanes.h", "spot_gadget.h", "spot_game.h", "spot_leaves.h"),
            *("spot_pass.h", "spot_rows.h", "spot_steps.h", "strength.h", "workers.h"),
        ),
    ),
    "mccfr": (
        ("deal.cc", "match.cc", "mccfr.cc", "response.cc", "vectors.cc"),
        (
            *("action_tree.h", "board_hands.h", "boards.h", "buckets.h", "continuations.h"),
            *("lanes.h", "leaf_lists.h", "random.h", "strength.h"),
        ),
    ),
    "abstraction": (("abstraction.cc",), ("boards.h", "lanes.h", "strength.h")),
    "positions": (("positions.cc",), ("random.h",)),
}
"""Libraries: their sources and headers in this folder."""

HOST = ("spots", "mccfr", "abstraction", "positions")
"""Those that NumPy code calls; they need no headers of XLA, so a wheel can have them."""

FLAGS = ("-std=c++17", "-O3", "-fno-trapping-math", "-fPIC", "-w")
"""Of the compiler, beside those that choose the instructions."""

LEVELS: dict[str, dict[str, tuple[str, ...]]] = {
    "x86_64": {
        "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
        "x86-64-v3": ("avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"),
        "x86-64-v2": ("sse4_1", "sse4_2", "ssse3", "popcnt"),
    },
    "aarch64": {"armv8-a": ()},
    "arm64": {"armv8-a": ()},
}
"""Per machine: values of -march that a wheel is built for, the fastest first, and the flags of
/proc/cpuinfo that they need."""

HERE = Path(__file__).parent
BUILT = HERE / "built"
"""Where an installed wheel has its libraries."""


def sources(name: str) -> tuple[list[Path], list[Path]]:
    """Returns the sources and the headers of a library."""
    found, headers = ([HERE / x for x in names] for names in FILES[name])
    return found, headers


def file_name(name: str, level: str) -> str:
    """Returns the name of a library for a level: another one for other sources or flags."""
    key = hashlib.sha256(" ".join(FLAGS).encode())
    for group in sources(name):
        for path in group:
            key.update(path.read_bytes())
    return f"{name}-{level}-{key.hexdigest()[:16]}.so"


def levels() -> list[str]:
    """Returns the levels that this machine can run, the fastest first."""
    known = LEVELS.get(platform.machine(), {})
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        have = set(next(x for x in lines if x.startswith("flags")).split())
    except (OSError, StopIteration):
        have = set()
    return [level for level, needs in known.items() if have.issuperset(needs)]


def in_wheel(name: str) -> Path | None:
    """Returns the fastest library of the installed wheel for this machine, None if it has none."""
    if not BUILT.is_dir() or platform.system() != "Linux":
        return None
    paths = (BUILT / file_name(name, level) for level in levels())
    return next((path for path in paths if path.is_file()), None)
