"""Files and folders of results: whole or absent, and one process at a time."""

from __future__ import annotations

import errno
import os
import re
import resource
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

from jaxsolve.files import LOCK, claim, load_arrays, save_arrays, write_atomic

HOLD = """
import sys, time
from pathlib import Path
from jaxsolve.files import claim
with claim(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_folder_in_use_is_refused_until_its_process_is_gone(tmp_path: Path) -> None:
    words = [sys.executable, "-c", HOLD, str(tmp_path)]
    holder = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    with holder.stdout:
        assert holder.stdout.readline() == "held\n"
    for _ in range(2):  # the first refusal leaves the words for the second
        with (
            pytest.raises(ValueError, match=f"in use: process {holder.pid} on .* is writing"),
            claim(tmp_path),
        ):
            pass
    timer = threading.Timer(0.3, holder.kill)
    timer.start()
    with claim(tmp_path, wait=True):
        assert holder.wait() == -signal.SIGKILL
        assert str(os.getpid()) in (tmp_path / LOCK).read_text()
    timer.join()


def test_blocks_of_one_thread_nest_and_others_are_refused(tmp_path: Path) -> None:
    refused: list[str] = []

    def another() -> None:
        try:
            with claim(tmp_path):
                pass
        except ValueError as error:
            refused.append(str(error))

    with claim(tmp_path):
        with claim(tmp_path):
            pass
        thread = threading.Thread(target=another)
        thread.start()
        thread.join()
    assert f"process {os.getpid()}" in refused[0]
    with claim(None):
        pass


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ValueError, match="is a file, not a directory"), claim(tmp_path / "file"):
        pass


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    """A limit on the size of files is what a test can have of a full disk."""
    path = tmp_path / "arrays.npz"
    save_arrays(path, {"kind": "test"}, {"x": np.arange(3)})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError, match=re.escape(f"cannot write: File too large: '{path}'")):
            save_arrays(path, {"kind": "test"}, {"x": np.zeros(10_000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == ["arrays.npz"]
    assert load_arrays(path, "test")[1]["x"].tolist() == [0, 1, 2]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS])
def test_a_disk_that_refuses_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", refuse)
    path = tmp_path / "curve.csv"
    with pytest.raises(OSError, match=re.escape(f"{os.strerror(code)}: '{path}'")):
        write_atomic(path, b"1,2\n")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(os.getuid() == 0, reason="root may write to any folder")
def test_a_read_only_folder_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError, match=re.escape(str(tmp_path))), claim(tmp_path):
        pass
