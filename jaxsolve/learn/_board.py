"""Curves for TensorBoard, where tensorboardX is installed."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any


def tensorboard(folder: Path) -> Any:
    """Returns a writer of event files in `folder / "tensorboard"`, or None."""
    if importlib.util.find_spec("tensorboardX") is None:
        return None
    writer = importlib.import_module("tensorboardX").SummaryWriter
    return writer(str(folder / "tensorboard"))
