"""Files that are whole or absent, in folders that one process at a time writes to."""

from __future__ import annotations

import contextlib
import io
import json
import os
import platform
import signal
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import filelock
import numpy as np

LOCK = ".lock"
"""Name of the lock file in a folder of results; its content is the process that wrote last."""


@contextlib.contextmanager
def claim(folder: Path | None, *, wait: bool = False) -> Iterator[None]:
    """Makes a folder for results and keeps other processes from writing to it in the block.

    The operating system frees the lock of a process that ends, however it ends. Blocks of one
    thread may be nested. Without a folder nothing happens.

    Args:
        folder: for results.
        wait: until another process that is writing to it has ended, in place of an error.

    Raises:
        ValueError: the folder is a file, or another process is writing to it; says which.
        OSError: the folder cannot be made or written to.
    """
    if folder is None:
        yield
        return
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"{folder} is a file, not a directory for the results")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / LOCK
    try:
        held = filelock.FileLock(path.resolve(), is_singleton=True).acquire(blocking=wait)
    except filelock.Timeout:
        holder = path.read_text().strip() or "another process"
        raise ValueError(
            f"{folder} is in use: {holder} is writing to it. Wait until it has ended, or choose "
            "another directory"
        ) from None
    with held:
        with contextlib.suppress(OSError):  # only words for the message above
            path.write_text(f"process {os.getpid()} on {platform.node()}\n")
        yield


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Opens a file for writing that takes the place of `path` when the block ends without an error.

    A reader, or a kill at any moment, never sees half of it. What a kill leaves behind, `path` with
    `.tmp` at its end, is overwritten by the next write.

    Raises:
        OSError: the disk is full or the folder cannot be written to; names the file, which is then
            as it was before.
    """
    beside = path.with_name(path.name + ".tmp")
    try:
        with beside.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise OSError(error.errno, f"cannot write: {error.strerror}", str(path)) from None


def write_atomic(path: Path, content: bytes) -> None:
    """Writes a file whole or not at all; see `replacing`.

    Raises:
        OSError: it cannot be written.
    """
    with replacing(path) as file:
        file.write(content)


def write_figure(path: Path, figure: Any, **options: Any) -> None:
    """Writes a matplotlib figure as PNG by `write_atomic`; options are those of `savefig`."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", **options)
    write_atomic(path, buffer.getvalue())


def save_arrays(path: Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Writes named arrays and a JSON header; equal content gives equal bytes."""
    checksum = _checksum(arrays)
    text = json.dumps({**header, "checksum": checksum}, sort_keys=True)
    with replacing(path) as file:  # array by array: tables may take half of the memory
        np.savez(file, header=np.frombuffer(text.encode(), np.uint8), **arrays)  # type: ignore[arg-type]


def load_arrays(path: Path, kind: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Returns (header, arrays) of a file written by `save_arrays`.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the file is damaged or of another kind.
    """
    with path.open("rb") as file:
        try:
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            header = json.loads(arrays.pop("header").tobytes())
            whole = header.pop("checksum") == _checksum(arrays)
        except Exception as error:  # a flipped bit makes zipfile and NumPy raise nearly anything
            raise ValueError(f"{path} is damaged or not a {kind}: {error}") from None
    if not whole:
        raise ValueError(f"{path} is damaged: its content does not match its checksum")
    if header.get("kind") != kind:
        raise ValueError(f"{path} is a {header.get('kind')}, not a {kind}")
    return header, arrays


@contextlib.contextmanager
def uninterrupted() -> Iterator[Callable[[], bool]]:
    """Holds the first Ctrl-C back, so that work is not lost in the middle; a second one is heard.

    Yields:
        A function that says whether there was one. Outside of the main thread there never is.
    """
    heard = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield heard.is_set
        return

    def listen(*_: Any) -> None:
        if heard.is_set():
            raise KeyboardInterrupt
        heard.set()

    previous = signal.signal(signal.SIGINT, listen)
    try:
        yield heard.is_set
    finally:
        signal.signal(signal.SIGINT, previous)


def differences(have: Mapping[str, Any], want: Mapping[str, Any]) -> str:
    """Returns "key: x instead of y" for every key of `want` that differs, "" if none does."""
    return "; ".join(
        f"{key}: {have.get(key)!r} instead of {value!r}"
        for key, value in want.items()
        if have.get(key) != value
    )


def _checksum(arrays: Mapping[str, np.ndarray]) -> int:
    total = 0
    for name in sorted(arrays):
        total = zlib.crc32(name.encode(), total)
        total = zlib.crc32(
            np.ascontiguousarray(arrays[name]).reshape(-1).view(np.uint8).data, total
        )
    return total
