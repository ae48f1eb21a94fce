"""Checkpoints of training, whole or absent.

Every host writes the shares of its own devices; a run goes on with another number of devices, since
Orbax reads the shares that the new ones need. Hosts share the folder.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from jaxsolve import devices, hosts
from jaxsolve.files import differences, write_atomic

State = TypeVar("State", bound=Any)


class Checkpoints:
    """Checkpoints of a run in a folder: the state by Orbax, the curve as CSV and JSON."""

    def __init__(self, folder: Path, run: dict[str, Any]) -> None:
        import orbax.checkpoint as ocp  # here: importing it takes seconds

        self.folder = folder.resolve()
        self.run = run
        self.args = ocp.args
        options = ocp.CheckpointManagerOptions(max_to_keep=2, enable_async_checkpointing=False)
        self.manager = ocp.CheckpointManager(self.folder / "checkpoints", options=options)

    def save(self, step: int, state: NamedTuple, curve: list[dict[str, float]]) -> None:
        """Writes a checkpoint, then the curve that belongs to it."""
        with devices.meshed():
            state_dict = _filled(state._asdict())
        self.manager.save(step, args=self.args.StandardSave(state_dict), force=True)
        self.manager.wait_until_finished()
        if not hosts.is_first():
            return
        text = json.dumps({"run": self.run, "curve": curve})
        write_atomic(self.folder / f"curve-{step}.json", text.encode())
        for old in self.folder.glob("curve-*.json"):
            if int(old.stem.split("-")[1]) not in self.manager.all_steps():
                old.unlink()
        table = io.StringIO()
        writer = csv.DictWriter(table, list(curve[0]))
        writer.writeheader()
        writer.writerows(curve)
        write_atomic(self.folder / "curve.csv", table.getvalue().encode())

    def load(self, like: State) -> tuple[State, list[dict[str, float]]]:
        """Returns the last whole checkpoint and its curve, or the start where there is none."""
        for step in sorted(self.manager.all_steps(), reverse=True):
            path = self.folder / f"curve-{step}.json"
            if not path.exists():
                continue
            header = json.loads(path.read_text())
            if wrong := differences(header["run"], self.run):
                raise ValueError(f"{self.folder} holds a run with other settings ({wrong})")
            with devices.meshed():
                wanted = self.args.StandardRestore(_filled(like._asdict()))
            found = self.manager.restore(step, args=wanted)
            kept = jax.tree.map(lambda x, y: y if x.size else x, like._asdict(), found)
            return type(like)(**kept), header["curve"]
        return like, []


def _filled(state: Any) -> Any:
    """Returns a state with one number in arrays that have none, which Orbax refuses."""
    return jax.tree.map(lambda x: x if x.size else jnp.zeros(1, x.dtype), state)
