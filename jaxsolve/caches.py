"""What is kept between processes: compiled programs, in a folder of this user alone.

JAXSOLVE_CACHE names the folder, or turns it off with "off". By default it is `jaxsolve` in the
user's cache folder: `$XDG_CACHE_HOME`, `~/Library/Caches` on macOS, or `~/.cache`. Without a home
folder nothing is kept.
"""

from __future__ import annotations

import functools
import hashlib
import os
import platform
import sys
import warnings
from pathlib import Path

import jax

_SHORTEST = 0.05
"""Seconds of compilation from which on a program is kept."""


@functools.cache
def cache_folder() -> Path | None:
    """Returns the folder, made if need be, or None where nothing can be kept.

    A folder that belongs to another user, or that others can write to, is not used, because what
    is in it is executed; there is one warning then.
    """
    folder = _place()
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        safe = is_private(folder)
    except OSError:
        return None
    if not safe:
        warnings.warn(
            f"jaxsolve keeps no compiled programs: {folder} belongs to another user, or others can "
            "write to it. Mend that (chmod go-w), or name another folder in JAXSOLVE_CACHE.",
            stacklevel=2,
        )
        return None
    return folder if os.access(folder, os.W_OK) else None


def is_private(path: Path) -> bool:
    """Returns whether a file or folder belongs to this user and nobody else can write to it.

    Raises:
        OSError: there is no such file.
    """
    found = path.stat()
    return not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)


def keep_programs() -> None:
    """Turns JAX's persistent compilation cache on, unless somebody has chosen one or none."""
    if jax.config.values.get("jax_compilation_cache_dir"):
        return
    if (folder := cache_folder()) is None:
        return
    jax.config.update("jax_compilation_cache_dir", str(folder / f"xla-{machine()[:8]}"))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", _SHORTEST)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
    # A killed process can leave half an entry behind; JAX then compiles again and warns each time.
    warnings.filterwarnings("ignore", message="Error reading persistent compilation cache")


@functools.cache
def machine() -> str:
    """Returns a name of this machine's instruction set; programs for another one may crash."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        flags = next(line for line in lines if line.startswith(("flags", "Features")))
    except (OSError, StopIteration):
        flags = platform.processor()
    return hashlib.sha256((platform.machine() + flags).encode()).hexdigest()


def _place() -> Path | None:
    named = os.environ.get("JAXSOLVE_CACHE", "")
    if named.lower() in ("off", "0"):
        return None
    if named:
        return Path(named)
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen) / "jaxsolve"
    home = Path(os.environ.get("HOME") or os.environ.get("USERPROFILE") or "")
    if not home.is_absolute() or not home.is_dir():
        return None
    return home / ("Library/Caches" if sys.platform == "darwin" else ".cache") / "jaxsolve"
