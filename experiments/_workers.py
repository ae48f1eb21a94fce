"""Processes of one core each, in which games of a study run side by side."""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import jax

T = TypeVar("T")


def results_of(
    call: Callable[..., T], tasks: Sequence[tuple[Any, ...]], count: int
) -> Iterator[tuple[tuple[Any, ...], T]]:
    """Yields (task, call(*task)) as calls end.

    Args:
        call: a function of a module.
        tasks: its arguments.
        count: processes, each kept to a core and gone with its parent; 0 makes the calls here.
    """
    if not count or not tasks:
        yield from ((task, call(*task)) for task in tasks)
        return
    context = multiprocessing.get_context("spawn")
    count = min(count, len(tasks))
    with concurrent.futures.ProcessPoolExecutor(count, context, _begin_worker) as pool:
        try:
            waiting = {pool.submit(call, *task): task for task in tasks}
            for done in concurrent.futures.as_completed(waiting):
                yield waiting[done], done.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _begin_worker() -> None:
    """Keeps a process to one core, before JAX starts there; it ends when its parent does.

    A GPU is left to the parent: it holds one copy of its memory and runs one program at a time.
    """
    jax.config.update("jax_platforms", "cpu")
    if hasattr(os, "sched_getaffinity"):
        mine = sorted(os.sched_getaffinity(0))
        number = multiprocessing.current_process()._identity[-1]
        os.sched_setaffinity(0, {mine[number % len(mine)]})
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A killed parent says nothing to its workers, which would play on."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
