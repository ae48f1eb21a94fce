"""Batches that several devices and several processes share."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from few import few

from jaxsolve import devices, hosts

PARTS = [
    *few(["games", "spots", "searches"], "games".__eq__),
    pytest.param("sound", marks=pytest.mark.long),
]
SCRIPT = Path(__file__).with_name("shared_batches.py")


@pytest.mark.parametrize("part", PARTS)
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


def test_a_batch_smaller_than_what_is_side_by_side_is_not_filled_up() -> None:
    run, batch = devices.vmap(jnp.sin, 100), jnp.arange(3.0)
    np.testing.assert_array_equal(run(batch), jnp.sin(batch))
    assert "[100" not in str(jax.make_jaxpr(run)(batch))
    assert "[3,2]" in str(jax.make_jaxpr(devices.vmap(jnp.sin, 2))(jnp.arange(5.0)))  # three twos
    nothing = devices.vmap(lambda x: x * jnp.zeros((2, 0)), 2)(jnp.arange(5.0))
    assert nothing.shape == (5, 2, 0)  # as the log of a search that keeps no queries


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


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="a CPU has no more devices than cores")
@pytest.mark.parametrize("own", [None, "3"])
def test_the_command_line_makes_devices_of_a_cpu(own: str | None) -> None:
    """As many as it says, unless the environment says how many."""
    code = """
import jax
from jaxsolve.cli._setup import start_jax
start_jax(devices="2")
print(len(jax.devices()))"""
    env = {name: text for name, text in os.environ.items() if name != "JAX_NUM_CPU_DEVICES"}
    env |= {"JAX_PLATFORMS": "cpu"} | ({} if own is None else {"JAX_NUM_CPU_DEVICES": own})
    done = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert int(done.stdout) == int(own or 2)


def test_hosts_that_are_not_named_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first in a process of its own: JAX joins others only before it has computed."""
    names = ("JAX_COORDINATOR_ADDRESS", "JAX_NUM_PROCESSES", "JAX_PROCESS_ID")
    done = subprocess.run(
        [sys.executable, "-c", "from jaxsolve import hosts; hosts.start()"],
        env={key: text for key, text in os.environ.items() if key not in names},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode
    assert "On every host set JAX_COORDINATOR_ADDRESS=HOST:PORT" in done.stderr
    monkeypatch.setenv("JAX_NUM_PROCESSES", "two")
    with pytest.raises(ValueError, match=r"JAX_NUM_PROCESSES=two .* must be whole numbers"):
        hosts.start()


class Hosts:
    """Two processes of two devices each on this machine, which train into one folder."""

    def __init__(self, out: Path, *widths: str) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.logs = [out.with_name(f"{out.name}-{k}-{port}.log") for k in range(2)]
        self.processes = []
        for k, log in enumerate(self.logs):
            environment = {
                **os.environ,
                "JAX_PLATFORMS": "cpu",
                "JAX_NUM_CPU_DEVICES": "2",
                "JAX_COORDINATOR_ADDRESS": f"127.0.0.1:{port}",
                "JAX_NUM_PROCESSES": "2",
                "JAX_PROCESS_ID": str(k),
            }
            command = [sys.executable, str(SCRIPT), str(out), "hosts", *(widths[k:][:1])]
            with log.open("w") as file:
                self.processes.append(
                    subprocess.Popen(command, env=environment, stdout=file, stderr=file)
                )

    def wait(self, seconds: float) -> list[int]:
        """Returns exit statuses; processes that live for longer are killed."""
        try:
            return [p.wait(seconds) for p in self.processes]
        finally:
            for p in self.processes:
                p.kill()

    def text(self, k: int) -> str:
        return self.logs[k].read_text()


@pytest.mark.long
def test_two_processes_train_together_and_go_on_after_a_kill(tmp_path: Path) -> None:
    """One is killed after its first checkpoint: the other names it and ends; a restart of both
    comes to where an uninterrupted run came to."""
    whole = Hosts(tmp_path / "whole")
    assert whole.wait(280) == [0, 0], whole.text(0)[-2000:] + whole.text(1)[-2000:]
    curve = json.loads((tmp_path / "whole" / "curve-60.json").read_text())["curve"]

    cut = tmp_path / "cut"
    first = Hosts(cut)
    while not [*cut.glob("curve-*.json")] and first.processes[0].poll() is None:
        time.sleep(0.05)
    first.processes[1].send_signal(signal.SIGKILL)
    begin = time.monotonic()
    statuses = first.wait(60)
    assert time.monotonic() - begin < 60
    assert statuses[0] != 0
    assert "stopped sending heartbeats):\n1\n" in first.text(0)  # the number of the process
    assert not (cut / "curve-60.json").exists()

    again = Hosts(cut)
    assert again.wait(280) == [0, 0], again.text(0)[-2000:]
    resumed = json.loads((cut / "curve-60.json").read_text())["curve"]
    losses = [[row["loss"] for row in rows] for rows in (curve, resumed)]
    np.testing.assert_allclose(*losses, rtol=1e-5)


@pytest.mark.slow
def test_processes_with_other_settings_are_named_before_training(tmp_path: Path) -> None:
    two = Hosts(tmp_path / "out", "8", "16")
    assert 0 not in two.wait(280)
    assert "process 1 on" in two.text(0)
    assert "network differ" in two.text(0)
