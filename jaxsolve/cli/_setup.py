"""Settings of JAX for a process of the command line, and options shared by commands."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Annotated, Any

import typer

Game = Annotated[
    str, typer.Argument(help='a game with its parameters, such as "leduc(ranks=3)"', metavar="GAME")
]
Iterations = Annotated[
    int, typer.Option(help="each updates every player once", min=1, max=2**31 - 1)
]
Out = Annotated[Path | None, typer.Option(help="directory for the results")]
X64 = Annotated[bool, typer.Option("--x64", help="compute in float64")]
Simultaneous = Annotated[
    bool, typer.Option("--simultaneous", help="update all players at once, not in turn")
]
MeasureEvery = Annotated[
    int | None,
    typer.Option(help="iterations between measurements; ten a decade by default", min=1),
]
Threads = Annotated[int | None, typer.Option(help="all processors by default", min=1, max=1024)]
Devices = Annotated[
    str | None, typer.Option(help='how many devices share batches, or "all"; one by default')
]
MaxStates = Annotated[
    int | None,
    typer.Option(
        help="refuse games with more world states; 50 million by default, 2 million of OpenSpiel",
        show_default=False,
    ),
]
MaxSeconds = Annotated[
    float, typer.Option(help="refuse games whose world states take longer to list")
]


def seed(of: str) -> Any:
    """Returns the option of a seed, which has to fit the generators of NumPy, JAX and C++.

    Args:
        of: what it is the seed of, for the help.
    """
    return typer.Option(help=of, min=0, max=2**31 - 1)


def check_out(out: Path | None) -> None:
    """Refuses a file where results have to go into a directory, before anything is compiled.

    Raises:
        ValueError: `out` is a file.
    """
    if out is not None and out.exists() and not out.is_dir():
        raise ValueError(f"--out: {out} is a file, not a directory for the results")


def start_jax(*, x64: bool = False, devices: str | None = None, distributed: bool = False) -> None:
    """Turns float64 on if asked for, joins other hosts, and lets devices share batches.

    A number of devices makes so many of a CPU with as many cores; JAX_NUM_CPU_DEVICES any number.

    Raises:
        ValueError: there are fewer devices, or the hosts are not known.
        OSError: other hosts do not answer.
    """
    import jax

    from jaxsolve import hosts
    from jaxsolve.devices import parse_devices, use_always

    if x64:
        jax.config.update("jax_enable_x64", True)
    wanted = None if devices is None else parse_devices(devices)
    own = "JAX_NUM_CPU_DEVICES" not in os.environ
    if own and isinstance(wanted, int) and wanted <= (os.cpu_count() or 1):
        with contextlib.suppress(RuntimeError):  # JAX has been used in this process
            jax.config.update("jax_num_cpu_devices", wanted)
    if distributed:
        hosts.start()
    if devices is not None or distributed:
        use_always(wanted or "all")
