"""Finding experiments by name."""

from __future__ import annotations

import ast
import difflib
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

_PACKAGE = "experiments"


def names() -> list[str]:
    """Returns the names of all experiments."""
    package = importlib.import_module(_PACKAGE)
    found = (m.name for m in pkgutil.iter_modules(package.__path__) if m.ispkg)
    return sorted(name for name in found if not name.startswith("_"))


def summary(name: str) -> str:
    """Returns the first line of an experiment's docstring, without importing it."""
    source = Path(__file__).parent / name / "__init__.py"
    text = ast.get_docstring(ast.parse(source.read_text(encoding="utf-8"))) or ""
    return text.partition("\n")[0]


def load(name: str) -> ModuleType:
    """Returns the package of an experiment; its `main(quick, out)` runs it.

    Raises:
        ValueError: there is no such experiment; the known ones are listed.
    """
    known = names()
    if name not in known:
        near = difflib.get_close_matches(name, known, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        raise ValueError(f"unknown experiment {name!r}.{hint} Known: {', '.join(known)}.")
    return importlib.import_module(f"{_PACKAGE}.{name}")
