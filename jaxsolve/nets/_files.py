"""Networks on disk: parameters, architecture, and the format of the public states."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import flax.serialization
import jax
import numpy as np
from flax.traverse_util import flatten_dict, unflatten_dict

from jaxsolve.files import load_arrays, save_arrays
from jaxsolve.nets._net import Net
from jaxsolve.nets._network import ValueNetwork
from jaxsolve.public import StateFormat


def save_net(net: Net, path: str | Path) -> None:
    """Writes a network to a file; `load_net` reads it."""
    module = {
        f.name: getattr(net.module, f.name)
        for f in dataclasses.fields(ValueNetwork)
        if f.name not in ("parent", "name")
    }
    header = {"kind": "network", "module": module, "format": net.format._asdict()}
    params = flatten_dict(flax.serialization.to_state_dict(net.params), sep="/")
    save_arrays(Path(path), header, {k: np.asarray(v) for k, v in params.items()})


def load_net(path: str | Path) -> Net:
    """Returns a network that `save_net` has written.

    Raises:
        ValueError: the file is none, or is damaged.
    """
    header, arrays = load_arrays(Path(path), "network")
    format = dict(header["format"])
    format["hands"] = tuple(format["hands"])
    module = dict(header["module"])
    if module.get("hands") is not None:
        module["hands"] = tuple(module["hands"])
    params = unflatten_dict(arrays, sep="/")
    return Net(
        jax.tree.map(jax.numpy.asarray, params),
        ValueNetwork(**module),
        StateFormat(**format),
    )
