"""Work on parts of an array in all processors, for functions that release Python's lock."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from jaxsolve.hosts import processors

T = TypeVar("T")


def in_chunks(
    work: Callable[[int, int], T],
    total: int,
    size: int,
    *,
    done: Callable[[int], object] | None = None,
) -> list[T]:
    """Returns `work(low, high)` of rows 0..total in chunks of `size`, in their order.

    Args:
        work: may run in several threads at once.
        total: rows.
        size: rows of a chunk.
        done: called with the number of rows after each chunk, in this thread and in order.
    """
    chunks = [(low, min(low + size, total)) for low in range(0, total, size)]
    out = []
    pool = ThreadPoolExecutor(processors())
    try:
        for (low, high), result in zip(chunks, pool.map(lambda c: work(*c), chunks), strict=True):
            out.append(result)
            if done is not None:
                done(high - low)
    finally:
        pool.shutdown(cancel_futures=True)  # so that Ctrl-C does not wait for all of them
    return out
