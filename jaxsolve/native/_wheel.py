"""Builds the host libraries into a wheel, if there is a compiler; a hook of hatchling.

For the best level of this machine; JAXSOLVE_LEVELS names others, separated by commas, or "all" for
a release. With an empty string the wheel has no libraries and runs everywhere.
"""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeLibraries(BuildHookInterface):
    """Adds `jaxsolve/native/built` to a wheel, which is then for one platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compiles and adds the libraries."""
        compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
        known = _libraries()
        wanted = os.environ.get("JAXSOLVE_LEVELS", ",".join(known.levels()[:1]))
        every = list(known.LEVELS.get(platform.machine(), {}))
        levels = every if wanted == "all" else [x for x in wanted.split(",") if x]
        if version == "editable" or compiler is None or platform.system() != "Linux" or not levels:
            return
        self._scratch = tempfile.TemporaryDirectory()

        def make(name: str, level: str) -> Path:
            made = Path(self._scratch.name) / known.file_name(name, level)
            command = [*compiler.split(), *known.FLAGS, f"-march={level}", "-shared"]
            command += [*map(str, known.sources(name)[0]), "-o", str(made)]
            subprocess.run(command, check=True)
            return made

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            jobs = [pool.submit(make, name, level) for name in known.HOST for level in levels]
        for job in jobs:
            made = job.result()
            build_data["force_include"][str(made)] = f"jaxsolve/native/built/{made.name}"
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-linux_{platform.machine()}"


def _libraries() -> Any:
    """Returns the module beside this one; jaxsolve itself is not installed yet."""
    path = Path(__file__).with_name("_libraries.py")
    spec = importlib.util.spec_from_file_location("jaxsolve_libraries", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
