"""What people type: every wrong word of games, solvers and runs is one sentence, at once."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve.cli import main
from jaxsolve.compiler import _watch
from jaxsolve.game import Range, checked
from jaxsolve.holdem._bet_menu import parse_stack


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("leduc(ranks=abc)", "ranks should be a whole number from 1 to 13 or None, not 'abc'"),
        ("leduc(ranks=1e400)", "ranks should be a whole number from 1 to 13 or None, not inf"),
        (f"leduc(ranks={10**400})", "ranks should be a whole number from 1 to 13"),
        (f"dark_hex(num_cols={10**25})", "num_cols should be a whole number from 2 to 60"),
        ("leduc(raises=1.5)", "raises should be a whole number from 0 to 100, not 1.5"),
        ("leduc(players=true)", "players should be a whole number from 2 to 10, not True"),
        ("leduc(bets=[2])", "bets should be a list of 2, each a whole number"),
        ("blotto(coins=2.5)", "coins should be a whole number from 1 to 10,000, not 2.5"),
        ("blotto(coins=1000,fields=10)", "take fewer coins or fields"),
        ("holdem(stack=9999999999999)", "stack should be a whole number from 1 to 1,000,000 or"),
        ("battleship(ship_sizes=[-1])", "each a whole number from 1 to 30, not [-1]"),
        ("battleship(board_width=30,board_height=30,ship_sizes=[1,1,1],ship_values=[1,1,1])", "30"),
        ("goofspiel(imp_info=maybe)", "imp_info should be true or false, not 'maybe'"),
        ("goofspiel(order=upwards)", "order should be one of random, ascending, descending, not"),
        ("scotland_yard(reveals=[99])", "reveals name moves of Mr X, 1 to rounds=5; got [99]"),
        ("scotland_yard(reveals=[0])", "reveals should be a list, each a whole number from 1"),
        ("nolimit_leduc(sizes=[])", "sizes should be a list of 1 to 100 entries, each a number"),
        ("nolimit_leduc(sizes=1)", "sizes should be a list of 1 to 100 entries, each a number"),
        ("matrix(payoffs=[['a',1],[1,2]])", "each a number from"),
        ("matrix(payoffs=[[1e999]])", "each a number from"),
        ("matrix(payoffs=[])", "payoffs should be a list of at least 1 entries"),
        ("coin_toss(sell_heads=high)", "sell_heads should be a number from"),
        ("matching_pennies(numbers=10000000000)", "numbers should be a whole number from 1 to"),
        ("oshi_zumo(size=-1)", "size should be a whole number from 0 to"),
    ],
)
def test_parameters_of_games(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        games.load(text)


def test_rules_made_in_python_are_checked_too() -> None:
    with pytest.raises(ValueError, match="ranks should be a whole number from 1 to 13 or None"):
        games.Leduc(ranks="abc")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="suits should be a whole number from 1 to 4"):
        dataclasses.replace(games.Leduc(), suits=0)
    assert games.Leduc(bets=[2, 4]) == games.Leduc()  # type: ignore[arg-type]
    assert type(games.Leduc(ranks=np.int64(3)).ranks) is int  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("dcfr(gamma=-5)", "gamma should be a number of at least 0, not -5"),
        ("cfr+(gamma=nan)", "gamma should be a number of at least 0, not 'nan'"),
        ("os-mccfr(epsilon=-1)", "epsilon should be a number above 0, at most 1, not -1"),
        ("mmd(eta=-1)", "eta should be a number above 0, not -1"),
        ("hs-dcfr(1)", "start should be a number of at least 5, not 1"),
        ("es-mccfr(seed=-1)", "seed should be a whole number from 0 to 2,147,483,647, not -1"),
        ("es-mccfr(batch=1e9)", "batch should be a whole number from 1 to 16,777,216"),
    ],
)
def test_hyper_parameters(text: str, says: str) -> None:
    with pytest.raises(ValueError, match="wrong solver string") as error:
        js.load_solver(text)
    assert says in str(error.value)


def test_hyper_parameters_in_python() -> None:
    with pytest.raises(ValueError, match="gamma should be a number of at least 0, not nan"):
        js.cfr_plus(np.nan)
    with pytest.raises(ValueError, match="gamma should be a number of at least 0"):
        js.cfr_plus(jnp.array([1.0, -1.0]))
    gammas = jnp.arange(3.0)
    assert jax.vmap(js.cfr_plus)(gammas).decay.args[0] is not None  # may be traced
    assert js.dcfr(gamma=2).decay.args[0] == 2.0
    assert type(js.dcfr(gamma=2).decay.args[0]) is float  # as every string has it


@checked
def bake(
    loaves: Annotated[int, Range(1, 9)],
    flour: Literal["rye", "wheat"] = "rye",
    times: tuple[float, ...] | None = None,
    note: Any = None,
) -> tuple[Any, ...]:
    return loaves, flour, times, note


def test_checked_functions_convert_and_refuse() -> None:
    assert bake(3.0, times=[1, 2.5]) == (3, "rye", (1, 2.5), None)  # type: ignore[arg-type]
    assert bake(loaves=2, note=...) == (2, "rye", None, ...)
    for options, says in (
        ({"loaves": 10}, "loaves should be a whole number from 1 to 9, not 10"),
        ({"loaves": "two"}, "loaves should be a whole number from 1 to 9, not 'two'"),
        ({"loaves": 2, "flour": "oat"}, "flour should be one of rye, wheat, not 'oat'"),
        ({"loaves": 2, "times": [[1]]}, r"times should be a list, each a number or None, not"),
    ):
        with pytest.raises(ValueError, match=says):
            bake(**options)  # type: ignore[arg-type]


def test_runs_and_batches(capsys: pytest.CaptureFixture[str]) -> None:
    tree = js.compile(games.load("kuhn"))
    for wrong, says in (
        ({"iterations": 2**31}, "iterations should be a whole number from 1 to 2,147,483,647"),
        ({"iterations": "many"}, "iterations should be a whole number"),
        ({"measure_every": -1}, "measure_every should be a whole number from 1 to"),
    ):
        options: Any = {"iterations": 1} | wrong
        with pytest.raises(ValueError, match=says):
            js.solve(tree, **options)
        with pytest.raises(ValueError, match=says):
            js.solve_batch(tree, "cfr+", **options)
    with pytest.raises(ValueError, match="gamma should be a number of at least 0, not -5"):
        js.solve_batch(tree, ["cfr+", "dcfr(gamma=-5)"], iterations=1)
    assert not capsys.readouterr().err  # nothing was started


def test_solvers_of_batches_may_be_strings() -> None:
    tree = js.compile(games.load("kuhn"))
    words = js.solve_batch(tree, ["dcfr(gamma=1)", "dcfr(gamma=3)"], iterations=8)
    built = js.solve_batch(tree, [js.dcfr(gamma=1), js.dcfr(gamma=3)], iterations=8)
    np.testing.assert_array_equal(words.exploitability, built.exploitability)


def test_policies_that_are_none() -> None:
    tree = js.compile(games.load("kuhn"))
    policy = js.uniform_policy(tree)
    for change in (lambda b: b * jnp.nan, lambda b: b * 3, lambda b: b - 1):
        with pytest.raises(ValueError, match="not probabilities from 0 to 1"):
            js.exploitability(tree, jax.tree.map(change, policy))
    with pytest.raises(ValueError, match="is it a policy of another game or layout"):
        js.exploitability(js.compile(games.load("coin_toss")), policy)


def test_players_threads_stacks_and_tournaments() -> None:
    tree = js.compile(games.load("kuhn"))
    with pytest.raises(ValueError, match="player should be from 0 to 1, not 7"):
        js.best_response(tree, js.uniform_policy(tree), 7)
    with pytest.raises(ValueError, match="a stack is at least a big blind, 100 chips, not 0"):
        parse_stack("0")
    for wrong, says in (
        ({"games": "abc"}, "games should be a whole number of at least 2, not 'abc'"),
        ({"max_moves": 0}, "max_moves should be a whole number of at least 1, not 0"),
        ({"seconds": np.nan}, "seconds should be a number above 0, not nan"),
    ):
        options: Any = wrong
        with pytest.raises(ValueError, match=says):
            js.agents.Rules(js.game.load("pgx:tic_tac_toe"), **options)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("play kuhn --seed 99999999999999999999", "--seed"),
        ("train kuhn --out runs --time-limit -1", "--time-limit"),
        ("holdem solve spot.toml --threads 99999999", "--threads"),
        ("solve pgx:chess", "too many states to be listed"),
    ],
)
def test_numbers_of_commands(
    words: str,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["jaxsolve", *words.split()])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert says in capsys.readouterr().err


def test_listing_watches_memory_and_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(TimeoutError, match=r"kuhn: listing 1 world states took .* seconds, longer"):
        js.compile("kuhn", max_seconds=1e-9)
    monkeypatch.setattr(_watch, "free_host_bytes", lambda: 2 * 2**30)
    wide = games.Matrix(payoffs=((0,) * 40_000,))  # 40,000 actions, so 40,000 masks of as many
    with pytest.raises(MemoryError, match=r"the next step takes \d\d\.\d GiB; the limit is 1\.4"):
        js.compile(wide)


@pytest.mark.parametrize("text", ["oshi_zumo", pytest.param("holdem", marks=pytest.mark.slow)])
def test_games_that_cannot_be_listed_are_refused_early(text: str) -> None:
    says = "far more world states than the limit of max_states=50,000,000.* --agent uniform"
    with pytest.raises(ValueError, match=says):
        js.compile(games.load(text))
