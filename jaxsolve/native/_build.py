"""Native code: C++ behind `jax.ffi` and `ctypes`, built at first use into the user's cache.

A library is keyed by its source, the version of jaxlib and the instruction set of this machine,
so a cache that moves to another machine is not used there. Without a compiler, or with
JAXSOLVE_NATIVE=0, everything runs in plain JAX and NumPy.

A wheel for Linux brings the host libraries for common processors, which are then not built.

Two kinds of library: operators are called inside jitted programs, host libraries by NumPy code.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
import warnings
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

import jax

from jaxsolve.caches import cache_folder, is_private, machine
from jaxsolve.files import write_atomic
from jaxsolve.native._libraries import FLAGS, HOST, in_wheel, sources
from jaxsolve.waiting import waiting

PATIENCE = 60
"""Seconds after which a compiler that does not end is given up."""

LEAVES = "jaxsolve_leaves"
DOWN, REACH, UP = "jaxsolve_down", "jaxsolve_reach", "jaxsolve_up"
PUT, ROWS, SORT = "jaxsolve_put", "jaxsolve_rows", "jaxsolve_sort"
"""Names of the operators in XLA."""

OPERATORS = {
    "holdem": {LEAVES: "JaxsolveLeaves"},
    "growing": {
        DOWN: "JaxsolveDown",
        REACH: "JaxsolveReach",
        UP: "JaxsolveUp",
        PUT: "JaxsolvePut",
        ROWS: "JaxsolveRows",
        SORT: "JaxsolveSort",
    },
}
"""Libraries of operators, and which symbol each is."""


def available(name: str = "holdem") -> bool:
    """Returns whether native operators can be used: a CPU, a compiler, and not turned off.

    Args:
        name: a key of `OPERATORS`.
    """
    if os.environ.get("JAXSOLVE_NATIVE", "1") == "0" or jax.default_backend() != "cpu":
        return False
    return _registered(name)


def host_library(name: str) -> ctypes.CDLL | None:
    """Returns a library for NumPy code, a key of `FILES`; None without a compiler or turned off.

    Calls of its functions release Python's lock.
    """
    return None if os.environ.get("JAXSOLVE_NATIVE", "1") == "0" else _loaded(name)


@functools.cache
def _loaded(name: str) -> ctypes.CDLL | None:
    """Builds and loads a library once a process; warns once where that fails."""
    try:
        return ctypes.CDLL(str(build(name)))
    except (OSError, subprocess.CalledProcessError) as error:
        reason = getattr(error, "stderr", None) or str(error)
        warnings.warn(
            f"jaxsolve runs {name} in plain JAX and NumPy, several times slower on a CPU, because "
            f"its native code could not be built ({reason.strip()[-300:]}). Install a C++17 "
            "compiler (g++ or clang++, or name one in CXX), or set JAXSOLVE_NATIVE=0 to silence "
            "this.",
            stacklevel=4,
        )
        return None


@functools.cache
def _registered(name: str) -> bool:
    """Registers the operators of a library once a process."""
    library = _loaded(name)
    if library is None:
        return False
    for operator, symbol in OPERATORS[name].items():
        handler = jax.ffi.pycapsule(getattr(library, symbol))
        jax.ffi.register_ffi_target(operator, handler, platform="cpu")
    return True


def build(name: str = "holdem") -> Path:
    """Returns the path of a library, compiling it unless the cache has it.

    Args:
        name: a key of `FILES`.

    Raises:
        OSError: there is no compiler, or nothing can be written.
        subprocess.CalledProcessError: the compiler failed; `stderr` says why.
    """
    if name in HOST and (ready := in_wheel(name)) is not None:
        return ready
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        raise OSError("no g++ or clang++ on the PATH")
    key = hashlib.sha256()
    for part in (version("jaxlib"), compiler, " ".join(FLAGS), machine()):
        key.update(part.encode())
    files, headers = sources(name)
    for source in files + headers:
        key.update(source.read_bytes())
    folder = cache_folder() or _for_this_process()
    path = folder / f"{name}-{key.hexdigest()[:16]}.so"
    checksum = path.with_suffix(".sha256")
    if _can_load(path, checksum):
        return path
    # Built beside its place and moved into it, so that another process never sees half of it.
    with (
        tempfile.TemporaryDirectory(dir=folder) as scratch,
        waiting(f"building the C++ code of {name}, once on this machine"),
    ):
        made = Path(scratch) / path.name

        def compile_one(source: Path) -> str:
            part = str(Path(scratch) / f"{source.stem}.o")
            include = f"-I{jax.ffi.include_dir()}"
            options = (*FLAGS, "-march=native", include)
            _run([*compiler.split(), *options, "-c", str(source), "-o", part])
            return part

        with ThreadPoolExecutor() as pool:  # half the time on two cores
            parts = list(pool.map(compile_one, files))
        _run([*compiler.split(), *FLAGS, "-shared", *parts, "-o", str(made)])
        written = _checksum(made)
        made.chmod(0o700)
        made.replace(path)
    write_atomic(checksum, written.encode())
    return path


def _can_load(path: Path, checksum: Path) -> bool:
    """Returns whether a library is in the cache, whole, and written by this user.

    One that was cut short would end the process when it is loaded; one of another user would run
    their code.
    """
    try:
        private = is_private(path) and is_private(checksum)
        return private and checksum.read_text() == _checksum(path)
    except OSError:
        return False


def _for_this_process() -> Path:
    """Returns a new folder that is removed when the process ends."""
    folder = Path(tempfile.mkdtemp(prefix="jaxsolve-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _run(command: list[str]) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        raise OSError(f"{command[0]} was given up after {PATIENCE} s") from None


def _checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
