"""Studies of Scotland Yard and connect four: rows, what a stopped run leaves, judged moves."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from experiments._report import wilson
from experiments.sog_connect_four._board import (
    COLUMNS,
    PLANES,
    board_model,
    connect_four,
    cut,
    exact_values,
    replay,
    root_of,
)
from experiments.sog_connect_four._judged import UNIFORM, compare, judge_searches, judged
from experiments.sog_connect_four._mirror import both_ways
from experiments.sog_connect_four._positions import keep, random_games
from experiments.sog_scotland_yard import _matches, main
from experiments.sog_scotland_yard._matches import Matches, Players, Point
from experiments.sog_scotland_yard._settings import QUICK
from jaxsolve import agents, nets

SMALL = dataclasses.replace(
    QUICK,
    game="scotland_yard(edges=[[1,2],[2,3],[3,4],[4,1],[3,5]],evader=[3],detectives=[1],rounds=2)",
    steps=(0, 2),
    games=4,
    group=4,
)


def test_wilson_is_the_closed_form():
    low, high = wilson(8, 10)
    assert (low, high) == pytest.approx((0.4901625, 0.9433178), abs=1e-5)
    assert wilson(0, 10)[0] == pytest.approx(0, abs=1e-12)
    assert wilson(10, 10)[1] == pytest.approx(1, abs=1e-12)


def test_moves_are_judged_by_the_value_of_the_game():
    values = np.array([[1, 0, -1, 9], [0, 0, -1, -1], [-1, -1, 9, 9]], np.int8)
    row = judged(values, np.array([1, 1, 0]))
    assert row["optimal_share"] == pytest.approx(2 / 3)
    assert row["value_loss"] == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="1 moves are not legal"):
        judged(values, np.array([3, 0, 0]))


def test_searches_are_compared_position_by_position():
    """Ours is right where the peer is wrong in one of five, and the other way round in none."""
    values = np.tile(np.array([[1, 0, -1, 9, 9, 9, 9]], np.int8), (5, 1))
    played = {"sog": [0, 0, 1, 0, 1], "mctx muzero": [0, 0, 1, 1, 2], "mctx gumbel": [0] * 5}
    rows = [
        judged(values, np.array(moves)) | {"positions": "random", "search": name, "sims": 16}
        for name, moves in played.items()
    ]
    compare(rows)
    ours, *peers = rows
    assert ours["ahead_muzero"] == 20
    assert ours["error_muzero"] == round(196 * 0.4 / 5**0.5, 2)
    assert ours["ahead_gumbel"] == -40
    assert not any("ahead_muzero" in row for row in peers)


def test_planes_show_the_squares_that_complete_four():
    """By trying a stone of each player on each empty square of 60 random positions."""
    moves = cut(random_games(60), np.random.default_rng(0))

    @jax.jit
    @jax.vmap
    def features(moves: jax.Array) -> jax.Array:
        return connect_four().public_features(replay(moves))

    seen = 0
    for planes in np.asarray(features(jnp.asarray(moves))).reshape(-1, *PLANES):
        empty = planes[..., :2].sum(-1) == 0
        for player, (row, column) in itertools.product(range(2), np.argwhere(empty)):
            board = planes[..., player].copy()
            board[row, column] = 1
            assert planes[row, column, 2 + player] == _has_four(board)
            seen += _has_four(board)
        assert not planes[..., 2:4][~empty].any()
    assert seen > 20


def _has_four(board: np.ndarray) -> bool:
    """Returns whether there are four in a row through any square of a board without four before."""
    lines = [*board, *board.T]
    for turned in (board, board[:, ::-1]):
        lines += [turned.diagonal(k) for k in range(-5, 7)]
    return any("1111" in "".join(str(int(x)) for x in line) for line in lines)


@pytest.mark.slow
def test_the_solver_sees_wins_and_losses():
    """Three in a row on both sides: every move but one loses; the mover's own three win."""
    pytest.importorskip("bitbully", reason='pip install "jaxsolve[boards]"')
    moves = np.full((2, 42), -1)
    moves[0, :5] = [2, 0, 3, 0, 4]  # first has 2, 3, 4 below: second must block, and cannot both
    moves[1, :6] = [2, 0, 3, 0, 4, 6]  # first wins at 1 or 5
    values = exact_values(moves)
    assert (values[0] == -1).all()
    assert values[1, 1] == values[1, 5] == 1


def test_a_network_asked_both_ways_says_the_same_of_mirror_images():
    """Values are equal and moves turned round, full columns or not; alone it says neither."""
    model, _ = board_model()
    module = nets.ValueNetwork(8, 1, body="conv " + "x".join(map(str, PLANES)), actions=COLUMNS)
    net = nets.make_net(model, module, jax.random.key(1), uniform_play=False)
    moves = jnp.asarray(cut(random_games(60), np.random.default_rng(3)))

    def played(moves: jax.Array) -> tuple[jax.Array, jax.Array]:
        state = replay(moves)
        return connect_four().public_features(state), connect_four().legal(state)

    @jax.jit
    def asked(net: nets.Net, moves: jax.Array) -> tuple[tuple[jax.Array, ...], jax.Array]:
        """Values, outputs, as a value function and with what is prepared; and logits by column."""
        features, legal = jax.vmap(played)(moves)
        start = model.start(root_of(connect_four().init()), 1, jnp.zeros(()).dtype)
        public = model.public_state(*start)
        public = jax.tree.map(lambda x: jnp.broadcast_to(x, (len(moves), *x.shape)), public)
        public, sure = public._replace(features=features), jnp.ones((len(moves), 2, 1))
        out, values = net.output(public, sure), net(public, sure)
        place = jnp.maximum(jnp.cumsum(legal, 1) - 1, 0)
        logits = jnp.take_along_axis(out.policy_logits[..., 0], place, 1)
        known = net.answer(net.prepare(public), public, sure)
        return (out.values, values, known), jnp.where(legal, logits, 0)

    turned = jnp.where(moves >= 0, COLUMNS - 1 - moves, -1)
    assert (~np.asarray(jax.vmap(played)(moves)[1])).any()  # a column is full
    for network, same in ((both_ways(net), True), (net, False)):
        (values, logits), (others, back) = asked(network, moves), asked(network, turned)
        for value, other in zip(values, others, strict=True):
            assert np.allclose(value, other, atol=1e-5) == same
        np.testing.assert_allclose(values[1], values[2], atol=1e-5)
        assert np.allclose(logits, back[:, ::-1], atol=1e-5) == same


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_the_match_goes_on_where_it_was_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """A second run reads networks and games, and the row is the same.

    Both sides play uniformly, which compiles in seconds; tests of agents and of PimBot have theirs.
    """
    monkeypatch.setattr(Players, "ours", lambda *_: agents.uniform())
    monkeypatch.setattr(Players, "theirs", lambda *_: agents.uniform())
    once = main(True, tmp_path, settings=SMALL, say=lambda _: None)
    (row,) = once.rows
    assert {"opponent", "opponent_iterations", "sims", "wins", "games", "low", "high"} <= set(row)
    assert {"seconds_per_move", "win_paper"} <= set(row)
    assert row["games"] == SMALL.games
    found = json.loads((tmp_path / "result.json").read_text())
    found |= {"complete": False, "rows": []}
    (tmp_path / "result.json").write_text(json.dumps(found))
    kept = json.loads((tmp_path / "matches.json").read_text())
    (groups,) = kept["points"].values()
    assert sum(len(games) for games in groups.values()) == SMALL.games
    again = main(True, tmp_path, settings=SMALL, say=lambda _: None)
    same = {k: v for k, v in row.items() if "seconds" not in k}
    assert same == {k: v for k, v in again.rows[0].items() if "seconds" not in k}

    def stops(self: Matches, points: list[Point], nets_at: Any, after: Callable[[], None]) -> None:
        after()
        raise KeyboardInterrupt

    # The table has earlier points before anything is played.
    monkeypatch.setattr(Matches, "play", stops)
    more = dataclasses.replace(SMALL, curve_games=2)
    with pytest.raises(KeyboardInterrupt):
        main(True, tmp_path, settings=more, say=lambda _: None)
    kept = json.loads((tmp_path / "result.json").read_text())
    assert not kept["complete"]
    assert kept["rows"] == again.rows


def test_opponents_think_as_long_as_ours_and_no_longer_when_a_run_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Ours takes .5 s, 100 iterations of PimBot .02 s and of ISMCTS 1 s; then machines are slow."""
    seconds = {"PimBot": 0.02, "ISMCTS": 1.0}

    def first(_: str, __: Path, point: Point, ___: int, agent: int) -> float:
        return seconds[point.opponent] if agent else 0.5

    monkeypatch.setattr(_matches, "seconds_of", first)
    found = Matches(SMALL, tmp_path).equal_seconds(Path("none"), 0, 8, count=4)
    kinds = [(p.opponent, p.iterations, p.sims, p.equal, p.games) for p in found]
    assert kinds == [("PimBot", 2500, 8, True, 4), ("ISMCTS", 50, 8, True, 4)]
    monkeypatch.setattr(_matches, "seconds_of", lambda *_: 9.0)
    assert Matches(SMALL, tmp_path).equal_seconds(Path("none"), 0, 8, 4) == found


def test_a_run_that_was_stopped_after_its_last_search_has_all_rows(tmp_path: Path):
    """Nothing is judged again, and no row is lost."""
    positions = cut(random_games(4), np.random.default_rng(3))
    keep(tmp_path / "random.npz", positions=positions, values=np.ones((4, COLUMNS), np.int8))
    earlier = [{"positions": "random", "search": UNIFORM, "sims": 0, "optimal_share": 0.5}]
    rows: list[dict[str, Any]] = []
    judge_searches(
        rows,
        None,  # type: ignore[arg-type]  # no search is left to ask it
        {"random": lambda: positions},
        (),
        4,
        tmp_path,
        earlier=earlier,
        after=lambda: pytest.fail("judged again"),
        say=print,
    )
    assert rows == earlier
