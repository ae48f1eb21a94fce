"""Gradients of convolutions in loops: `python experiments/bench/board_net.py --out D`.

The steps of a training are one program with a loop. The gradient of a small network of 3 x 3
convolutions is timed by itself and within such a loop, with Flax's convolution and with
`jaxsolve.nets`'. Times are processor time of all threads, the least of several.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flax.linen as nn
import jax

from experiments._report import Report, markdown
from jaxsolve.nets import Conv

STEPS = 4


class Boards(nn.Module):
    """Convolutions one after the other; `conv` makes each."""

    conv: Callable[[], nn.Module]
    layers: int = 6

    @nn.compact
    def __call__(self, x: Any) -> Any:
        """Returns the mean square of the last one's result."""
        for _ in range(self.layers):
            x = nn.relu(self.conv()(x))
        return (x**2).mean()


def least(run: Callable[[], Any], repeats: int = 3) -> float:
    """Returns milliseconds of processor time, after compilation."""
    jax.block_until_ready(run())
    found = []
    for _ in range(repeats):
        begin = time.process_time()
        jax.block_until_ready(run())
        found.append(time.process_time() - begin)
    return 1e3 * min(found)


def main() -> None:
    """Prints and saves the table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("board_net"))
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--width", type=int, default=32)
    options = parser.parse_args()
    begin, rows = time.perf_counter(), []
    x = jax.random.normal(jax.random.key(0), (options.batch, 6, 7, options.width))
    kinds: dict[str, Callable[[], nn.Module]] = {
        "flax.linen.Conv": lambda: nn.Conv(options.width, (3, 3)),
        "jaxsolve.nets.Conv": lambda: Conv(options.width),
    }
    for name, conv in kinds.items():
        module = Boards(conv)
        params = module.init(jax.random.key(1), x)
        change = jax.grad(lambda p, module=module: module.apply(p, x))

        def step(p: Any, _: None, change: Any = change) -> tuple[Any, None]:
            return jax.tree.map(lambda a, b: a - 1e-3 * b, p, change(p)), None

        once = jax.jit(lambda p, step=step: step(p, None)[0])
        loop = jax.jit(lambda p, step=step: jax.lax.scan(step, p, None, STEPS)[0])
        alone = least(lambda once=once, params=params: once(params))
        inside = least(lambda loop=loop, params=params: loop(params)) / STEPS
        row = {"convolution": name, "alone_ms": alone, "in_a_loop_ms": inside}
        rows.append(row | {"ratio": inside / alone})
    report = Report("board_net", False, time.perf_counter() - begin, rows)
    report.save(options.out)
    print(markdown(rows))


if __name__ == "__main__":
    main()
