"""Words for who waits, and the folder of compiled programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from jaxsolve import caches, waiting

ROOT = Path(__file__).parent.parent


def test_a_long_wait_is_one_line_in_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(waiting, "SILENCE", 0.05)
    with waiting.waiting("compiling"):
        time.sleep(0.2)
    with waiting.waiting("brief"):
        pass
    with waiting.waiting("unheard", show=False):
        time.sleep(0.1)
    assert capsys.readouterr() == ("", "compiling ...\n")


@pytest.mark.skipif(sys.platform != "linux", reason="pseudo-terminals of Linux")
def test_a_terminal_sees_the_seconds():
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    code = (
        "import time; from importlib.util import module_from_spec, spec_from_file_location\n"
        "spec = spec_from_file_location('waiting', 'jaxsolve/waiting.py')\n"  # no JAX, for speed
        "waiting = module_from_spec(spec); spec.loader.exec_module(waiting)\n"
        "waiting.SILENCE = 0.01\n"
        "with waiting.waiting('compiling'), waiting.printing_above():\n"
        "    time.sleep(0.1); print('row', 1); waiting.say('row 2'); time.sleep(1.5)"
    )
    words = [sys.executable, "-c", code]
    subprocess.run(words, stdout=theirs, stderr=theirs, check=True, cwd=ROOT)
    os.set_blocking(ours, False)
    seen = os.read(ours, 10_000).decode()
    assert re.search(r"\.\.\. 0.*\rrow 1\r\n.*\rrow 2\r\n.*compiling \.\.\. 1", seen, re.DOTALL)


@pytest.mark.parametrize(
    ("variables", "place"),
    [
        ({"HOME": "{}"}, "{}/.cache/jaxsolve"),
        ({"HOME": "{}", "XDG_CACHE_HOME": "{}/x"}, "{}/x/jaxsolve"),
        ({"HOME": "{}", "JAXSOLVE_CACHE": "{}/mine"}, "{}/mine"),
        ({"HOME": "{}", "JAXSOLVE_CACHE": "off"}, None),
        ({"HOME": "{}/missing"}, None),
        ({}, None),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="the folders of Linux")
def test_where_programs_are_kept(
    variables: dict[str, str], place: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "JAXSOLVE_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    caches.cache_folder.cache_clear()
    found = caches.cache_folder()
    assert found == (None if place is None else Path(place.format(tmp_path)))
    if place is None:
        assert not list(tmp_path.iterdir())
    caches.cache_folder.cache_clear()


def test_a_folder_that_others_can_write_to_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    tmp_path.chmod(0o777)
    monkeypatch.setenv("JAXSOLVE_CACHE", str(tmp_path))
    caches.cache_folder.cache_clear()
    with pytest.warns(UserWarning, match="others can write to it"):
        assert caches.cache_folder() is None
    caches.cache_folder.cache_clear()
