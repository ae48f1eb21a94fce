"""The command line: files, streams, exit statuses, and runs that are killed or interrupted."""

from __future__ import annotations

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.cli import main
from jaxsolve.files import claim
from jaxsolve.solvers import _checkpoint

SETTINGS = (
    "jax_enable_x64",
    "jax_compilation_cache_dir",
    "jax_persistent_cache_min_compile_time_secs",
    "jax_persistent_cache_min_entry_size_bytes",
)


class Ran(NamedTuple):
    status: int
    out: str
    err: str


Cli = Callable[..., Ran]


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Cli]:
    """The command line in this process, whose settings of JAX are put back."""
    before = {name: getattr(jax.config, name) for name in SETTINGS}

    def call(*arguments: str | Path) -> Ran:
        monkeypatch.setattr(sys, "argv", ["jaxsolve", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        return Ran(int(end.value.code or 0), *capfd.readouterr())

    yield call
    for name, value in before.items():
        jax.config.update(name, value)


def _start(*arguments: str | Path) -> subprocess.Popen[str]:
    """The command line in a process of its own."""
    code = "from jaxsolve.cli import main; main()"
    words = [sys.executable, "-c", code, *map(str, arguments)]
    pipe = subprocess.PIPE
    return subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, env=os.environ)


def _wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 120
    while not path.exists() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    assert path.exists(), process.communicate()


# What it writes


def test_solve_writes_what_it_found(cli: Cli, tmp_path: Path) -> None:
    out = tmp_path / "runs" / "kuhn"
    ran = cli("solve", "kuhn", "--solver", "dcfr(gamma=3)", "--iterations", 40, "--out", out)
    assert ran.status == 0
    names = {".lock", "checkpoint.npz", "config.json", "curve.csv", "curve.png", "policy.npz"}
    assert {path.name for path in out.iterdir()} == names
    curve = list(csv.DictReader((out / "curve.csv").read_text().splitlines()))
    assert [int(row["iteration"]) for row in curve] == [1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40]
    facts = json.loads((out / "config.json").read_text())
    assert facts["config"]["solver"] == "dcfr(gamma=3)"
    assert (facts["status"], facts["iterations"]) == ("iteration limit", 40)
    tree = js.compile(games.load("kuhn"))
    policy = js.load_policy(tree, out / "policy.npz")
    gap = float(js.exploitability(tree, policy))
    np.testing.assert_allclose(facts["exploitability"], gap, rtol=1e-4)
    np.testing.assert_allclose(float(curve[-1]["exploitability"]), gap, rtol=1e-4)
    assert (out / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert f"{'iteration':>10}" in ran.out  # the table, for people
    assert "values: " in ran.out
    assert "written to" in ran.err


def test_json_is_one_object_per_measurement_and_nothing_else(cli: Cli) -> None:
    ran = cli("solve", "kuhn", "--iterations", 20, "--measure-every", 8, "--json")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["iteration"] for row in rows] == [8, 16, 20]
    assert all(list(row) == ["iteration", "seconds", "exploitability"] for row in rows)
    assert "kuhn" in ran.err  # the tree, the bar and the summary are for people


@pytest.mark.slow
def test_x64_computes_in_float64(cli: Cli, tmp_path: Path) -> None:
    for flags in ([], ["--x64"]):
        out = tmp_path / "".join(["run", *flags])
        assert cli("solve", "kuhn", "--iterations", 3, "--out", out, *flags).status == 0
        with np.load(out / "policy.npz") as file:
            assert file["probability_0"].dtype == ("float64" if flags else "float32")


def test_target_and_time_limit_stop(cli: Cli) -> None:
    forever = ("solve", "kuhn", "--iterations", 10**9, "--json")
    ran = cli(*forever, "--target", "1e-2")
    gaps = [json.loads(line)["exploitability"] for line in ran.out.splitlines()]
    assert ran.status == 0
    assert gaps[-1] <= 1e-2 < min(gaps[:-1])
    ran = cli(*forever, "--time-limit", 0.2)
    assert ran.status == 0
    assert json.loads(ran.out.splitlines()[-1])["iteration"] < 10**9
    assert "time limit" in ran.err


def test_compare_writes_a_row_for_each_solver_and_measurement(cli: Cli, tmp_path: Path) -> None:
    solvers = "cfr+,dcfr(1.5,0,2)"
    words = ("compare", "kuhn", "--solvers", solvers, "--iterations", 20, "--measure-every", 10)
    ran = cli(*words, "--out", tmp_path)
    assert ran.status == 0
    report = json.loads((tmp_path / "result.json").read_text())
    found = [(row["solver"], row["iteration"]) for row in report["rows"]]
    assert found == [("cfr+", 10), ("cfr+", 20), ("dcfr(1.5,0,2)", 10), ("dcfr(1.5,0,2)", 20)]
    assert len((tmp_path / "compare.csv").read_text().splitlines()) == 1 + 4
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")
    assert "dcfr(1.5,0,2)" in ran.out


def test_games_lists_every_game(cli: Cli) -> None:
    rows = [json.loads(line) for line in cli("games", "--json").out.splitlines()]
    assert {row["game"].partition("(")[0] for row in rows} == set(games.GAMES)
    text = cli("games").out
    assert text.count("these defaults cannot be listed") == 5
    assert all(name in text for name in games.GAMES)


@pytest.mark.slow
def test_games_lp_puts_the_exact_value_beside_the_known_one(cli: Cli) -> None:
    ran = cli("games", "--lp", "--json", "--max-states", 60)
    rows = {row["game"]: row for row in map(json.loads, ran.out.splitlines())}
    assert abs(rows["kuhn"]["lp_value"] + 1 / 18) < 1e-9
    assert rows["leduc"]["lp_value"] is None  # larger than asked for
    for row in rows.values():
        if row["lp_value"] is not None and row["value"] is not None:
            assert abs(row["lp_value"] - row["value"]) < 1e-6, row


def test_solvers_lists_every_solver(cli: Cli) -> None:
    text = cli("solvers").out
    assert all(name in text for name in [*js.SOLVERS, *js.SAMPLERS])
    assert "alpha=1.5, beta=0" in text


# What it refuses


KUHN = ("solve", "kuhn")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("solve", "ludec"), "Did you mean 'leduc'? Known games: battleship, blotto, coin_toss"),
        (("solve", "kuhn(player=3)"), "no parameter 'player'. Its parameters: players=2"),
        (("solve", "kuhn(players=11)"), "players should be a whole number from 2 to 10, not 11"),
        (("solve", "kuhn(players=2"), "expected a closing ')'"),
        ((*KUHN, "--solver", "cfr++"), "Did you mean 'cfr+'? Known solvers: cfr, cfr+, lcfr"),
        ((*KUHN, "--solver", "dcfr(alfa=2)"), "it takes alpha=1.5, beta=0"),
        ((*KUHN, "--solver", "dcfr(alpha=much)"), "alpha should be a number, not 'much'"),
        ((*KUHN, "--iterations", "0"), "Invalid value for '--iterations'"),
        ((*KUHN, "--iterations", str(2**31)), "Invalid value for '--iterations'"),
        ((*KUHN, "--iterations", "many"), "Invalid value for '--iterations'"),
        ((*KUHN, "--measure-every", "0"), "Invalid value for '--measure-every'"),
        ((*KUHN, "--target", "-1"), "target should be a number above 0 or None, not -1"),
        ((*KUHN, "--time-limit", "0"), "time_limit should be a number above 0 or None, not 0"),
        ((*KUHN, "--resume"), "--resume needs --out"),
        ((*KUHN, "--out", __file__), "is a file, not a directory"),
        ((*KUHN, "--out", f"{__file__}/run"), "test_cli.py"),
        ((*KUHN, "--max-states", "20"), "max_states"),
        ((*KUHN, "--max-seconds", "1e-9"), "longer than max_seconds=1e-09"),
        (("compare", "kuhn", "--solvers", "cfr,cfrr"), "unknown solver 'cfrr'"),
        (("compare", "kuhn", "--iterations", "0"), "Invalid value for '--iterations'"),
        (("reproduce", "nothing"), "nothing"),
        (("solve", "holdem"), "too many states to be listed. Use jaxsolve holdem solve SPOT.toml"),
        (("compare", "dark_hex()"), "such as 'dark_hex(board_size=2,gameversion=adh)'; jaxsolve"),
        (("play", "holdem", "--agent", "resolving"), "too many states to be listed"),
        (("solve", "openspiel:universal_poker(numRanks=99)"), "OpenSpiel ends the process over"),
        pytest.param(
            ("solve", "openspiel:sheriff(max_items=-1)"),
            "out of memory: 4 GiB",
            marks=pytest.mark.slow,  # fills that memory
        ),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, tuple) else "",
)
def test_bad_input_is_one_message_and_status_2(words: tuple[str, ...], says: str, cli: Cli) -> None:
    ran = cli(*words)
    assert ran.status == 2
    assert ran.out == ""
    assert says in " ".join(ran.err.replace("│", " ").split()), ran.err
    assert "Traceback" not in ran.err


def test_runs_that_do_not_fit_a_directory_are_refused(cli: Cli, tmp_path: Path) -> None:
    run = (*KUHN, "--out", tmp_path, "--iterations", 50)
    assert cli(*run, "--time-limit", "1e-9").status == 0
    ran = cli(*run)
    assert ran.status == 2
    assert "unfinished run (1 of 50 iterations): resume it (--resume)" in ran.err
    ran = cli(*run, "--resume", "--solver", "cfr+")
    assert ran.status == 2
    assert "another configuration (solver: 'pcfr+" in ran.err
    checkpoint = tmp_path / _checkpoint.NAME
    checkpoint.write_bytes(checkpoint.read_bytes()[:-7])
    ran = cli(*run, "--resume")
    assert ran.status == 2
    assert "checkpoint.npz is damaged" in ran.err


# Runs that end early


@pytest.mark.slow
def test_a_killed_run_goes_on_to_the_same_bits(cli: Cli, tmp_path: Path) -> None:
    run = ("solve", "leduc", "--solver", "pcfr+", "--iterations", 20_000, "--out")
    cut, whole = tmp_path / "cut", tmp_path / "whole"
    process = _start(*run, cut, "--checkpoint-seconds", 0.02)
    _wait_for(cut / _checkpoint.NAME, process)
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL
    done, planned = _checkpoint.unfinished(cut) or (0, 0)
    assert 0 < done < planned == 20_000
    assert not (cut / "policy.npz").exists()
    assert cli(*run, cut, "--resume").status == 0
    assert cli(*run, whole).status == 0
    assert (cut / "policy.npz").read_bytes() == (whole / "policy.npz").read_bytes()
    gaps = [
        {
            row["iteration"]: row["exploitability"]
            for row in csv.DictReader(path.read_text().splitlines())
        }
        for path in (cut / "curve.csv", whole / "curve.csv")
    ]
    assert gaps[0] == gaps[1]


def test_ctrl_c_keeps_the_work(cli: Cli, tmp_path: Path) -> None:
    run = ("solve", "kuhn", "--iterations", 2 * 10**9, "--json", "--out", tmp_path)
    process = _start(*run, "--checkpoint-seconds", 0)
    _wait_for(tmp_path / _checkpoint.NAME, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert "--resume" in err
    rows = [json.loads(line) for line in out.splitlines()]
    done, planned = _checkpoint.unfinished(tmp_path) or (0, 0)
    assert rows[-1]["iteration"] == done < planned
    facts = json.loads((tmp_path / "config.json").read_text())
    assert (facts["status"], facts["iterations"]) == ("interrupted", done)
    policy = js.load_policy(js.compile(games.load("kuhn")), tmp_path / "policy.npz")
    assert policy["Q"]
    ran = cli(*run, "--resume", "--time-limit", "1e-9")
    (row,) = [json.loads(line) for line in ran.out.splitlines()]
    assert row["iteration"] > done


@pytest.mark.slow
def test_ctrl_c_ends_a_comparison_and_keeps_what_there_is(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(iteration: int, *_: float) -> None:
        if iteration == 5:
            signal.raise_signal(signal.SIGINT)

    solve = js.solve
    monkeypatch.setattr(js, "solve", lambda *a, **options: solve(*a, callback=press, **options))
    words = ("compare", "kuhn", "--solvers", "cfr,cfr+", "--iterations", 10**9)
    ran = cli(*words, "--out", tmp_path)
    assert ran.status == 130
    assert "not finished: cfr, cfr+" in ran.err
    rows = json.loads((tmp_path / "result.json").read_text())["rows"]
    assert {row["solver"] for row in rows} == {"cfr"}
    assert 5 <= rows[-1]["iteration"] < 10**9
    assert "(interrupted at" in ran.out


def test_comparisons_that_make_no_sense_are_refused_before_they_start(
    cli: Cli, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    for words, says in (
        (("--out", tmp_path / "file"), "is a file, not a directory"),
        (("--solvers", "cfr,cfr"), "names 'cfr' twice"),
        (("--solvers", ""), "names none"),
    ):
        ran = cli("compare", "kuhn", *words)
        assert (ran.status, ran.out) == (2, "")
        assert says in ran.err
        assert "compiling" not in ran.err


def test_resuming_where_there_is_nothing_says_so(cli: Cli, tmp_path: Path) -> None:
    ran = cli("solve", "kuhn", "--iterations", 5, "--resume", "--out", tmp_path / "new")
    assert ran.status == 0
    assert "no checkpoint in" in ran.err


def test_ctrl_c_while_files_are_written_loses_none(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save = js.save_policy

    def press(*arguments: Any) -> None:
        signal.raise_signal(signal.SIGINT)
        save(*arguments)

    monkeypatch.setattr(js, "save_policy", press)
    ran = cli(*KUHN, "--iterations", 5, "--out", tmp_path)
    assert ran.status == 0
    assert "written to" in ran.err
    assert {"policy.npz", "config.json", "curve.png"} <= {f.name for f in tmp_path.iterdir()}


# Machines that give little


def test_a_folder_in_use_is_refused(cli: Cli, tmp_path: Path) -> None:
    held, over = threading.Event(), threading.Event()

    def hold() -> None:
        with claim(tmp_path):
            held.set()
            over.wait()

    holder = threading.Thread(target=hold)
    holder.start()
    held.wait()
    for command in (("solve", "kuhn"), ("compare", "kuhn", "--solvers", "cfr,cfr+")):
        ran = cli(*command, "--iterations", 5, "--out", tmp_path)
        assert ran.status == 2
        assert f"is in use: process {os.getpid()} on" in ran.err
    over.set()
    holder.join()
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


@pytest.mark.slow
def test_a_container_without_home_and_user_name(tmp_path: Path) -> None:
    """Nothing is kept between processes then. Only root can also do without a name."""
    words = [sys.executable, "-m", "jaxsolve", "solve", "kuhn", "--iterations", "5"]
    if os.getuid() == 0 and shutil.which("setpriv"):
        words = ["setpriv", "--reuid=54321", "--regid=54321", "--clear-groups", *words]
        above = (path for path in tmp_path.parents if path.name.startswith(("pytest-", "popen-")))
        for folder in (tmp_path, *above):
            folder.chmod(0o777)
    ran = subprocess.run(
        [*words, "--out", str(tmp_path / "run")],
        env={"PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "Traceback" not in ran.stderr
    assert (tmp_path / "run" / "policy.npz").exists()


def test_what_a_picture_needs_is_missed_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: Cli
) -> None:
    """And not after an hour of training."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    ran = cli("reproduce", "convergence", "--out", str(tmp_path / "run"))
    assert ran.status == 2
    assert 'pip install "jaxsolve[plot]"' in ran.err
    assert not (tmp_path / "run").exists()
