"""`jaxsolve view`: a solved game or spot in the browser."""

from __future__ import annotations

import sys
import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from jaxsolve.cli import _setup
from jaxsolve.waiting import waiting

if TYPE_CHECKING:
    from jaxsolve.view import Viewable


def view(
    folder: Annotated[Path, typer.Argument(help="what solve or holdem solve wrote with --out")],
    export: Annotated[
        Path | None, typer.Option(help="write one HTML file instead, with the data inside")
    ] = None,
    port: Annotated[int, typer.Option(help="of the server; a free one by default")] = 0,
    browser: Annotated[bool, typer.Option(help="open it in the browser")] = True,
) -> None:
    """Walk through a solved game in the browser; the server is reached from this machine only."""
    if export is not None and not export.parent.is_dir():
        raise ValueError(f"--export: there is no folder {export.parent}")
    if not 0 <= port < 1 << 16:
        raise ValueError(f"--port is {port}; ports are 0 to 65535, 0 for a free one")
    _setup.start_jax()
    from jaxsolve.view import FILE_BYTES, serve
    from jaxsolve.view import export as exported

    with waiting(f"opening {folder}"):
        shown = _open(folder)
    if export is not None:
        with waiting(f"computing the pages of {export}"):
            page = exported(shown, limit=FILE_BYTES)
            page.save(export)
        print(f"{page} written to {export}", file=sys.stderr)
        return
    server = serve(shown, port=port)
    address = f"http://127.0.0.1:{server.server_address[1]}/"
    print(f"{address}  (Ctrl-C ends it)", flush=True)
    if browser:
        webbrowser.open(address)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        print(file=sys.stderr)
    finally:
        server.server_close()


def _open(folder: Path) -> Viewable:
    """Returns what a folder holds.

    Raises:
        ValueError: there is no such folder, or it holds no solution.
    """
    if not folder.is_dir():
        raise ValueError(f"there is no folder {folder}")
    if (folder / "spot.json").is_file():
        from jaxsolve.holdem import load_result, view_spot

        return view_spot(load_result(folder))
    if (folder / "config.json").is_file() or (folder / "checkpoint.npz").is_file():
        from jaxsolve.solvers import view_run

        return view_run(folder)
    raise ValueError(
        f"{folder} holds no solution: write one with `jaxsolve solve GAME --out {folder}` or "
        f"`jaxsolve holdem solve SPOT.toml --out {folder}`"
    )
