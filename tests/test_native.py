"""The cache of compiled operators: what is cut short, or may be somebody else's, is built anew."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jaxsolve import caches
from jaxsolve.native import _build

COMPILER = """#!/bin/sh
echo "$*" >> "{log}"
while [ "$1" != -o ]; do shift; done
echo "a library" > "$2"
"""

Builds = Callable[[], tuple[Path, int]]


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Builds]:
    """Builds with a compiler that only writes a line; returns (library, how often it linked)."""
    log, compiler = tmp_path / "log", tmp_path / "cxx"
    compiler.write_text(COMPILER.format(log=log))
    compiler.chmod(0o700)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("JAXSOLVE_CACHE", str(tmp_path / "cache"))
    caches.cache_folder.cache_clear()

    def call() -> tuple[Path, int]:
        path = _build.build()
        assert path.read_text() == "a library\n"
        return path, sum("-shared" in line for line in log.read_text().splitlines())

    yield call
    caches.cache_folder.cache_clear()


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:3])


def _plant(path: Path) -> None:
    """Another user's library comes with another user's checksum."""
    if os.getuid() == 0:
        os.chown(path, 12345, -1)
    else:  # who is not root cannot give files away
        path.chmod(0o722)


def test_a_library_is_built_once(build: Builds) -> None:
    first = build()
    assert build() == first == (first[0], 1)
    assert first[0].stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("spoil", [_cut, _plant, Path.unlink, lambda path: path.chmod(0o777)])
@pytest.mark.parametrize("suffix", [".so", ".sha256"])
def test_a_spoiled_one_is_built_again(
    build: Builds, spoil: Callable[[Path], None], suffix: str
) -> None:
    path, _ = build()
    spoil(path.with_suffix(suffix))
    assert build() == (path, 2)
    assert build() == (path, 2)


@pytest.mark.parametrize("cache", ["off", "/dev/null/cache"])
def test_without_a_safe_place_it_lives_as_long_as_the_process(
    build: Builds, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cache: str
) -> None:
    monkeypatch.setenv("JAXSOLVE_CACHE", cache)
    path, _ = build()
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert not (tmp_path / "cache").exists()
