"""Prints the lowest version of every dependency that pyproject.toml allows, as constraints for pip.

python .ci/floors.py > floors.txt
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

PYPROJECT = Path(__file__).parents[1] / "pyproject.toml"


def floors(text: str) -> dict[str, str]:
    """Returns the floor of each package, extras included.

    Args:
        text: of a pyproject.toml.

    Raises:
        ValueError: a dependency has no floor, or two.
    """
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"].values()
    found: dict[str, str] = {}
    for line in (*project["dependencies"], *(line for extra in extras for line in extra)):
        if line.startswith(f"{project['name']}["):  # other extras of the package itself
            continue
        match = re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\d.]+)(?:[,;]|$)", line)
        if match is None:
            raise ValueError(f"{line!r} names no lowest version: write >= and one that is tested")
        name, floor = match.groups()
        if found.setdefault(name, floor) != floor:
            raise ValueError(f"{name} has two lowest versions, {found[name]} and {floor}")
    return found


if __name__ == "__main__":
    for name, floor in floors(PYPROJECT.read_text(encoding="utf-8")).items():
        print(f"{name}=={floor}")  # noqa: T201
