"""Matches between agents: duplicate, AIVAT, resumed, and equal to matches of tables."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from few import few
from hand_agents import OTHER, POT, STACK, blueprint, chance_sums, game

from jaxsolve import holdem, mccfr
from jaxsolve.holdem import limited, play
from jaxsolve.holdem.play._range_play import _Walk
from jaxsolve.holdem.play._street_ends import Runouts, StreetEnd, _guess, dealt


@functools.cache
def values() -> holdem.HandValues:
    return holdem.hand_values((game(POT), chance_sums(game(POT))), hands=5_000)


class Stops(play.RandomAgent):
    """Breaks down in its hand of a number."""

    def __init__(self, number: int) -> None:
        self.number = number

    def begin(self, hand, seat, *, number, key):
        if number >= self.number > 0:
            raise ConnectionError("broken")
        return super().begin(hand, seat, number=number, key=key)


def test_an_agent_wins_nothing_from_itself() -> None:
    for agent in (blueprint(), play.RandomAgent()):
        found = play.play_match([agent, agent], STACK, hands=12, values=values())
        assert not found.plain.any()
        assert found.chips is not None
        np.testing.assert_allclose(found.chips, 0, atol=1e-3)  # chips; values are float32
        aivat, duplicate = found.rows()
        assert (duplicate["low"], duplicate["mbb"], duplicate["high"]) == (0, 0, 0)
        assert (aivat["estimator"], duplicate["estimator"]) == ("aivat", "duplicate")
    three = play.play_match([play.RandomAgent()] * 3, STACK, hands=30)
    assert not three.plain.any()
    assert three.plain.shape == (10, 3)


def test_a_resumed_match_is_the_same(tmp_path: Path) -> None:
    """Broken off twice, and made longer: tables, rows and the log are those of one that was not."""
    whole = play.play_match(
        [play.RandomAgent(), blueprint()],
        STACK,
        hands=34,
        values=values(),
        every=8,
        out=tmp_path / "whole",
    )
    out = tmp_path / "out"
    how = {"values": values(), "every": 8, "out": out, "resume": True}
    for number, done in ((5, 0), (21, 16)):
        with pytest.raises(ConnectionError, match="broken"):
            play.play_match([Stops(number), blueprint()], STACK, hands=34, **how)
        files = list(out.glob("match-*.npz"))
        assert len(files) == (done > 0)
    (rows,) = (json.loads((out / "result.json").read_text())["rows"],)
    assert [row["hands"] for row in rows] == [16, 16]
    with pytest.raises(ValueError, match="has this match already; --resume"):
        play.play_match([Stops(0), blueprint()], STACK, hands=34, **{**how, "resume": False})
    short = play.play_match([Stops(0), blueprint()], STACK, hands=20, **how)
    found = play.play_match([Stops(0), blueprint()], STACK, hands=34, **how)
    assert whole.chips is not None
    assert found.chips is not None
    np.testing.assert_array_equal(found.plain, whole.plain)
    np.testing.assert_array_equal(found.chips, whole.chips)
    np.testing.assert_array_equal(short.plain, whole.plain[:10])
    logs = [next(folder.glob("*.log")).read_bytes() for folder in (out, tmp_path / "whole")]
    assert logs[0] == logs[1]
    rows = [json.loads((f / "result.json").read_text())["rows"] for f in (out, tmp_path / "whole")]
    for row in (*rows[0], *rows[1]):
        assert row.pop("seconds_per_hand") > 0
    assert rows[0] == rows[1]
    keys = {"agent", "opponent", "hands", "mbb", "low", "high", "estimator", "seed", "p_value"}
    assert set(rows[0][0]) == keys
    log = play.check_log(next(out.glob("*.log")))
    assert log.hands == 34
    won = {x.name: x.chips for x in log.totals}
    assert won["random"] == pytest.approx(2 * found.plain[:, 0].sum(), abs=1e-3)


def test_rows_of_other_matches_stay(tmp_path: Path) -> None:
    caller, random = play.AlwaysCall(), play.RandomAgent()
    for seed in (0, 1, 0):
        play.play_match([random, caller], STACK, hands=4, seed=seed, out=tmp_path, resume=True)
    play.play_match([caller, random], STACK, hands=4, out=tmp_path)
    rows = json.loads((tmp_path / "result.json").read_text())["rows"]
    assert [(row["agent"], row["seed"]) for row in rows] == [
        *(("random", 1), ("random", 0), ("always-call", 0))
    ]
    (tmp_path / "result.json").write_text('{"name": "blueprint"}')
    with pytest.raises(ValueError, match="no result of matches"):
        play.play_match([caller, random], STACK, hands=4, seed=9, out=tmp_path)


def test_what_is_refused(tmp_path: Path) -> None:
    caller = play.AlwaysCall()
    with pytest.raises(ValueError, match="two deals"):
        play.play_match([caller, caller], STACK, hands=2)
    with pytest.raises(ValueError, match="the values are of"):
        play.play_match([caller, caller], 2_100, values=values())
    with pytest.raises(ValueError, match="2 stacks of 2000"):
        play.play_match([caller, blueprint()], 2_100)
    with pytest.raises(ValueError, match="there is no agent 'nobody'; there are: blueprint:DIR"):
        play.open_agent("nobody")
    with pytest.raises(FileNotFoundError, match="has no blueprint"):
        play.open_agent(f"blueprint:{tmp_path}")
    assert play.open_agent("random").name == "random"


@pytest.mark.long
def test_it_agrees_with_matches_of_tables() -> None:
    """Hand by hand, with and without AIVAT, against matches over ranges and of tables; seed 1.

    Within four standard errors, of another menu and of the same one.
    """
    here, other = game(POT), game(OTHER)
    one = here, chance_sums(here)
    agent = blueprint()
    many = play.play_match([agent, blueprint(OTHER)], STACK, hands=3_000, seed=1, values=values())
    tables = holdem.hand_match([one, (other, chance_sums(other))], hands=60_000, values=values())
    over = play.agents_range_match(agent, blueprint(OTHER), STACK, boards=6, seed=1)
    assert many.chips is not None
    for found in (holdem.HandMatch(many.plain, many.plain), many.best):
        error = np.hypot(found.standard_error, tables.standard_error)
        assert abs(found.mbb - tables.mbb) < 4 * error
    assert abs(many.best.mbb - over.mbb) < 4 * np.hypot(
        many.best.standard_error, over.margin / 1.96
    )
    assert many.best.standard_error < many.best.plain_error
    added = (many.chips - many.plain)[:, 0]
    assert abs(added.mean()) < 4 * added.std() / np.sqrt(len(added))
    assert added.std() > 100
    caller = play.AlwaysCall()
    found = play.play_match([agent, caller], STACK, hands=2_000, seed=1, values=values()).best
    exact = holdem.range_match(one, (here, holdem.always(here, "c")), boards=200)
    assert abs(found.mbb - exact.mbb) < 4 * np.hypot(found.standard_error, exact.margin / 1.96)


FORMS = ("tables on boards", "agents on boards", "hands of tables")


@pytest.mark.parametrize("form", few(FORMS, "hands of tables".__ne__))
def test_known_matches_in_parts_are_the_same(form: str, tmp_path: Path) -> None:
    """A match that is made longer, with a last step that is not whole, is one that was as long."""
    here, agent, caller = game(POT), blueprint(), play.AlwaysCall()
    sums = holdem.uniform_sums(here)
    uniform = play.BlueprintAgent(here, sums, name="uniform")
    how: dict[str, Any] = {"seed": 2, "out": tmp_path}
    part: Callable[..., play.KnownMatch]
    if form == "tables on boards":
        whole = holdem.range_match((here, agent.sums), (here, sums), boards=12, seed=2)
        part = functools.partial(play.play_on_boards, agent, uniform, STACK, **how)
        short, long = {"boards": 11}, {"boards": 12}
    elif form == "agents on boards":
        whole = play.agents_range_match(agent, caller, STACK, boards=3, seed=2)
        part = functools.partial(play.play_on_boards, agent, caller, STACK, **how)
        short, long = {"boards": 2}, {"boards": 3}
    else:
        whole = holdem.hand_match([(here, agent.sums), (here, sums)], hands=12_000, seed=2)
        part = functools.partial(play.play_by_tables, agent, uniform, **how)
        short, long = {"hands": 8_800}, {"hands": 12_000}
    first = part(**short)
    assert first.found is not None
    assert len(first.found.chips) < len(whole.chips)
    with pytest.raises(ValueError, match="--resume goes on"):
        part(**long)
    found = part(**long, resume=True)
    assert found.finished
    assert found.found is not None
    np.testing.assert_array_equal(found.found.chips, whole.chips)
    assert json.loads((tmp_path / "result.json").read_text())["rows"] == found.rows
    assert found.rows[0]["mbb"] == whole.mbb


@pytest.mark.long
def test_drawn_ends_of_streets_leave_the_mean() -> None:
    """On the same boards, with and without a blueprint's guesses; four standard errors."""
    one, two, boards = blueprint(), blueprint(OTHER), 24
    whole = play.agents_range_match(one, two, STACK, boards=boards, seed=4).chips
    factor = mccfr.bias(5, 1)
    guess = limited.beyond(one.view, mccfr.Continuations(one.sums, factor))
    errors = []
    for quick in (None, guess):
        found = play.agents_range_match(
            one, two, STACK, boards=boards, seed=4, drawn=True, quick=quick
        ).chips
        more = found - whole
        errors.append(more.std(ddof=1) / np.sqrt(boards))
        assert abs(more.mean()) < 4 * errors[-1]
        assert more.std() > 0
    assert errors[1] < errors[0]


@pytest.mark.parametrize("street", [1, 2])
def test_a_blueprints_values_are_those_of_the_walk(street: int) -> None:
    """From a later street on, all moves of both: by C++ on tables, and by asking the agent."""
    agent = blueprint()
    board = np.array(holdem.parse_cards("Td9d6hQc2s"))
    hand = play.new_hand(holdem.no_limit(), STACK)
    for k in range(street):
        hand = hand.act(hand.can.call)
        hand = hand.act(hand.can.call)
        if k + 1 < street:
            hand = hand.deal(board[: 3 + k].tolist())
    guess = limited.beyond(agent.view, mccfr.Continuations(agent.sums, mccfr.bias(5, 1)))
    rng = np.random.default_rng(0)
    live = holdem.possible(board.tolist())
    reach = [np.where(live, rng.uniform(size=1326), 0).astype(np.float32) for _ in range(2)]
    walk = _Walk((agent, agent), board, None)
    first = play.new_hand(holdem.no_limit(), STACK)
    states = [agent.begin(first, seat, number=0, key=0) for seat in range(2)]
    walk._walk(dealt(hand, board), states, reach)
    walk._settle()
    assert abs(walk.total) > 1
    found = _guess(StreetEnd(hand, states, reach), board, 0, guess)
    assert found == pytest.approx(walk.total, rel=1e-4)


class Chosen:
    """Draws the end of a number, and keeps its chance."""

    def __init__(self, number: int) -> None:
        self.number, self.chance, self.count = number, 1.0, 0

    def choice(self, count: int, *, p: np.ndarray) -> int:
        self.chance, self.count = float(p[self.number]), count
        return self.number


@pytest.mark.long
def test_means_over_rivers_leave_the_mean() -> None:
    """From a turn on, all rivers and all ends that may be drawn: exactly the mean of the rivers."""
    agent, other = blueprint(), blueprint(OTHER)
    guess = limited.beyond(agent.view, mccfr.Continuations(agent.sums, mccfr.bias(5, 1)))
    cards = holdem.parse_cards("Td9d6hQc")
    hand = first = play.new_hand(holdem.no_limit(), STACK)
    for size in (0, 3):
        hand = hand.act(hand.can.call)
        hand = hand.act(hand.can.call).deal(cards[size : max(3, size + 1)])
    rng = np.random.default_rng(0)
    live = holdem.possible(cards)
    reach = [np.where(live, rng.uniform(size=1326), 0).astype(np.float32) for _ in range(2)]

    def value(river: int, draws: Chosen | None) -> float:
        board = np.array([*cards, river])
        runouts = None if draws is None else Runouts(board, 2, rng)
        quick = None if draws is None else guess
        walk = _Walk((agent, other), board, None, draws, quick, runouts)
        states = [a.begin(first, i, number=0, key=0) for i, a in enumerate((agent, other))]
        shown = holdem.possible(board.tolist())
        walk.play(hand, states, [x * shown for x in reach] if draws is None else reach)
        return walk.total

    rivers = np.setdiff1d(np.arange(52), cards)
    plain = [value(c, None) for c in rivers]
    drawn = np.zeros(len(rivers))
    for k, c in enumerate(rivers):
        number, count = 0, 1
        while number < count:
            draws = Chosen(number)
            found = value(c, draws)
            drawn[k] += draws.chance * found
            number, count = number + 1, draws.count
    assert np.mean(drawn) == pytest.approx(np.mean(plain), rel=1e-4)
    assert np.std(drawn) < np.std(plain) / 2
