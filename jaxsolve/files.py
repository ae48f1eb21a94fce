"""Files that are whole or absent: written beside their place, then moved into it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def write_atomic(path: Path, content: bytes) -> None:
    """Writes a file so that a reader, or a kill at any moment, never sees half of it.

    What a kill leaves behind, `path` with `.tmp` at its end, is overwritten by the next write.
    """
    beside = path.with_name(path.name + ".tmp")
    with beside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def save_arrays(path: Path, header: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> None:
    """Writes named arrays and a JSON header; equal content gives equal bytes."""
    checksum = _checksum(arrays)
    text = json.dumps({**header, "checksum": checksum}, sort_keys=True)
    buffer = io.BytesIO()
    np.savez(buffer, header=np.frombuffer(text.encode(), np.uint8), **arrays)  # type: ignore[arg-type]
    write_atomic(path, buffer.getvalue())


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
        total = zlib.crc32(arrays[name].tobytes(), total)
    return total
