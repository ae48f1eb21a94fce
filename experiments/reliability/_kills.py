"""Runs that are killed at random times and resumed, against the same run left alone."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tqdm import tqdm

SOLVE = """
import sys
import jaxsolve as js
out, resume = sys.argv[1], len(sys.argv) > 2
result = js.solve(
    "kuhn", "pcfr+", iterations=400_000, measure_every=2_000, out=out, resume=resume,
    checkpoint_seconds=0, progress=False,
)
js.save_policy(result.policy, out + "/end.npz")
"""
TRAIN = """
import sys
import jax, numpy as np
import games, jaxsolve as js
from jaxsolve import learn, nets
from jaxsolve.files import save_arrays
from jaxsolve.public import no_limit, public_game
from jaxsolve.search import subgames
from pathlib import Path
out, resume = sys.argv[1], len(sys.argv) > 2
game = public_game(games.load("kuhn"))
source = learn.random_beliefs(
    game, subgames(game, no_limit), js.pcfr_plus(), stages=[[1, 2], [0]], steps=2, iterations=10,
    batch=16,
)
net = nets.make_net(game, nets.ValueNetwork(32, 2), jax.random.key(0))
plan = learn.Plan(steps=60, updates=4, minibatch=32, buffer=64)
found = learn.train(net, source, plan, log_every=2, out=out, resume=resume, progress=False)
leaves = {f"{k:03d}": np.asarray(x) for k, x in enumerate(jax.tree.leaves(found.net.params))}
save_arrays(Path(out) / "end.npz", {"kind": "parameters"}, leaves)
"""
BLUEPRINT = """
import sys
import numpy as np
from jaxsolve import holdem, mccfr
from jaxsolve.files import save_arrays
from pathlib import Path
out, resume = Path(sys.argv[1]), len(sys.argv) > 2
draw = np.random.default_rng(0).integers
buckets = holdem.Abstraction(
    flop=draw(0, 2_000, (1_755, 1_326), np.uint16), turn=draw(0, 2_000, (16_432, 1_326), np.uint16),
    river=np.zeros((134_459, 1_326), np.uint16), buckets=(169, 2_000, 2_000, 1), mean_strength={},
    seed=0, checksum=0,
)
streets = {"preflop": ["3x"], "flop": ["33%", "75%"], "turn": ["50%", "100%"], "river": ["100%"]}
streets = {name: {"sizes": [sizes, ["100%", "a"], ["a"]]} for name, sizes in streets.items()}
game = holdem.holdem_game(holdem.BetMenu.parse({"stack": "100bb", **streets}), buckets)
sampler = mccfr.ExternalSampler(game, mccfr.Options(seed=1, average_stages=2))
found = mccfr.train(
    sampler, passes=300_000, snapshot_every=80_000, checkpoint_seconds=0, out=out, resume=resume,
    progress=False,
)
arrays = {"regret": found.tables.regret, "average": found.tables.average}
save_arrays(out / "end.npz", {"kind": "tables"}, arrays)
"""
MATCH = """
import sys
import numpy as np
from jaxsolve.files import save_arrays
from jaxsolve.holdem import play
from pathlib import Path
out, resume = Path(sys.argv[1]), len(sys.argv) > 2
agents = [play.RandomAgent(), play.AlwaysCall()]
found = play.play_match(agents, 20_000, hands=400, every=20, out=out, resume=resume)
(log,) = out.glob("*.log")
lines = np.frombuffer(log.read_bytes(), np.uint8)
save_arrays(out / "end.npz", {"kind": "match"}, {"plain": found.plain, "log": lines})
"""
PROGRAMS = {"solve": SOLVE, "train": TRAIN, "blueprint": BLUEPRINT, "match": MATCH}


def kills(name: str, minutes: float, *, count: int = 50, seed: int = 0) -> dict[str, Any]:
    """Returns how many kills a run survived, and how many ended in other bits or an error.

    A run is killed, resumed and killed again until it ends; then its result is compared with that
    of a run that was left alone, byte for byte, and the next run begins.

    Args:
        name: of a program in `PROGRAMS`.
        minutes: stop beyond this.
        count: kills at most.
        seed: of the times.
    """
    times = random.Random(seed)
    end = time.monotonic() + 60 * minutes
    killed, runs, faults = 0, 0, []
    with (
        tempfile.TemporaryDirectory() as folder,
        tqdm(total=count, desc=f"kills of {name}", unit="kill") as bar,
    ):
        whole = Path(folder) / "whole"
        start = time.monotonic()
        _start(name, whole, folder, resume=False).wait()  # its programs are then in the cache
        again = time.monotonic()
        _start(name, Path(folder) / "again", folder, resume=False).wait()
        length = time.monotonic() - again
        expected = (whole / "end.npz").read_bytes()
        bar.set_postfix(seconds=f"{again - start:.1f}, then {length:.1f}")
        while killed < count and time.monotonic() < end:
            cut = Path(folder) / f"cut{runs}"
            runs += 1
            for attempt in range(1000):
                begin = time.monotonic()
                process = _start(name, cut, folder, resume=attempt > 0)
                last = killed >= count or time.monotonic() > end
                try:
                    process.wait(None if last else times.uniform(0.3, 1) * length)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                    killed += 1
                    bar.update()
                    continue
                if attempt == 0:  # before it could be killed: the machine has become faster
                    length = time.monotonic() - begin
                if process.returncode or (cut / "end.npz").read_bytes() != expected:
                    faults.append(f"run {runs}: exit status {process.returncode}")
                break
    return {
        "part": f"kills of {name}, resumed",
        "count": killed,
        "faults": len(faults),
        "detail": "; ".join(faults) or f"{runs} runs end in the bits of a run left alone",
    }


def _start(name: str, out: Path, cache: str, *, resume: bool) -> subprocess.Popen[bytes]:
    """Starts a program in a process of its own, with a cache of compiled programs of its own."""
    environment = os.environ | {
        "JAX_COMPILATION_CACHE_DIR": f"{cache}/xla",
        "PYTHONPATH": os.pathsep.join(p for p in sys.path if p),
    }
    words = [sys.executable, "-c", PROGRAMS[name], str(out), *(["resume"] if resume else [])]
    return subprocess.Popen(words, env=environment, stderr=subprocess.DEVNULL)
