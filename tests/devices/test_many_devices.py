"""Batches that several devices and several processes share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jaxsolve import devices

SCRIPT = Path(__file__).with_name("shared_batches.py")
TRAIN = (
    *("train", "kuhn", "--steps", "6", "--log-every", "2", "--episodes", "4"),
    *("--simulations", "4", "--width", "8"),
)


@pytest.mark.parametrize("part", ["all", pytest.param("sound", marks=pytest.mark.slow)])
def test_four_devices_give_what_one_gives(part: str, tmp_path: Path) -> None:
    """To rounding: games, boards, searches, matches, training; a restart on other devices, too."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), part],
        env={**os.environ, "JAX_NUM_CPU_DEVICES": "4", "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_what_devices_cannot_share_is_refused() -> None:
    with pytest.raises(ValueError, match=r'64 devices asked for, .* 1 .*or "all"; JAX_NUM_CPU'):
        devices.make_mesh(64)
    with pytest.raises(ValueError, match="0 devices asked for"):
        devices.make_mesh(0)
    with pytest.raises(ValueError, match="'some' is neither \"all\" nor a positive number"):
        devices.parse_devices("some")
    assert devices.parse_devices("4") == 4
    with pytest.raises(ValueError, match="3 boards cannot be shared by 4 devices: use 4"):
        devices.check_divides("boards", 3, 4)
    with pytest.raises(ValueError, match="9 boards cannot be shared by 4 devices: use 8 or 12"):
        devices.check_divides("boards", 9, 4)


def test_hosts_that_are_not_named_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ValueError, match="JAX_COORDINATOR_ADDRESS=HOST:PORT"):
        devices.start_hosts()
    monkeypatch.setenv("JAX_NUM_PROCESSES", "two")
    with pytest.raises(ValueError, match=r"JAX_NUM_PROCESSES=two .* must be whole numbers"):
        devices.start_hosts()
