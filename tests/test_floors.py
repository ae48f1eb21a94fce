"""The lowest versions that pyproject.toml allows, which `make test-floors` installs."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FLOORS = runpy.run_path(str(ROOT / ".ci" / "floors.py"))["floors"]


def test_every_dependency_has_a_floor() -> None:
    text = (ROOT / "pyproject.toml").read_text()
    project = tomllib.loads(text)["project"]
    extras = project["optional-dependencies"].values()
    lines = [*project["dependencies"], *(line for extra in extras for line in extra)]
    names = {re.split(r"[^\w.-]", line)[0] for line in lines} - {"jaxsolve"}
    found = FLOORS(text)
    assert set(found) == names
    assert {"jax", "flax", "matplotlib", "pytest"} <= names
    assert f'"jax>={found["jax"]}"' in text


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('"numpy"', "'numpy' names no lowest version"),
        ('"numpy<3"', "'numpy<3' names no lowest version"),
        ('"numpy~=2.0"', "'numpy~=2.0' names no lowest version"),
        ('"numpy>=2.0", "numpy>=2.1"', "numpy has two lowest versions, 2.0 and 2.1"),
    ],
)
def test_what_has_no_floor_is_refused(lines: str, message: str) -> None:
    text = f'[project]\nname = "x"\ndependencies = []\noptional-dependencies.all = [{lines}]\n'
    with pytest.raises(ValueError, match=re.escape(message)):
        FLOORS(text)
