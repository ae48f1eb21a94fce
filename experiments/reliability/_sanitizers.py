"""The C++ operators under the address and undefined-behaviour sanitizers of g++."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
COMPARISONS = (
    *(f"tests/holdem/test_{part}.py" for part in ("payoffs", "engine", "range_match", "vectors")),
    *("tests/holdem/test_blueprint_game.py", "tests/mccfr/test_external.py"),
    *("tests/holdem/test_abstraction_features.py", "tests/search/test_fused_passes.py"),
    *("-m", "slow or not slow", "-k"),
    "native or one_iteration or many_iterations or in_python or in_cpp"
    " or of_the_loops and (chase or leduc) or leave_others",
)
"""Tests that compare C++ with plain forms; arguments of pytest."""

COMPILER = """#!/bin/sh
exec g++ "$@" -O1 -g1 -fsanitize=address,undefined -fno-sanitize-recover=all
"""


def sanitizers(minutes: float) -> dict[str, Any]:
    """Returns whether the comparisons pass, and the first words of a sanitizer if one spoke.

    Args:
        minutes: longest time, building included.
    """
    row: dict[str, Any] = {"part": "C++ under sanitizers", "count": 0, "faults": 0}
    if shutil.which("g++") is None:
        return row | {"detail": "not run: no g++"}
    with tempfile.TemporaryDirectory() as folder:
        compiler = Path(folder) / "cxx"
        compiler.write_text(COMPILER)
        compiler.chmod(0o700)
        environment = os.environ | {
            "CXX": str(compiler),
            "JAXSOLVE_CACHE": f"{folder}/cache",
            "JAX_PLATFORMS": "cpu",
            "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
        }
        try:
            # The compiler itself does not run under the sanitizers.
            build = (
                "from jaxsolve.native import build; "
                "from jaxsolve.native._libraries import FILES; [build(x) for x in FILES]"
            )
            _run([sys.executable, "-c", build], environment, minutes)
            libraries = [_library(name) for name in ("libasan.so", "libubsan.so")]
            environment |= {"LD_PRELOAD": " ".join(libraries), "ASAN_OPTIONS": "detect_leaks=0"}
            tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *COMPARISONS]
            ran = _run(tests, environment, minutes)
        except subprocess.TimeoutExpired:
            return row | {"detail": f"not finished in {minutes:g} minutes"}
    spoke = [x for x in ran.stdout.splitlines() if "Sanitizer" in x or "runtime error" in x]
    clean = ran.returncode == 0 and not spoke
    last = ran.stdout.strip().splitlines()[-1]
    return row | {"count": 1, "faults": int(not clean), "detail": (spoke or [last])[0]}


def _run(
    words: list[str], environment: dict[str, str], minutes: float
) -> subprocess.CompletedProcess[str]:
    """Runs a process with both streams in one text."""
    return subprocess.run(
        words,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60 * minutes,
        check=False,
    )


def _library(name: str) -> str:
    words = ["g++", f"-print-file-name={name}"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
