"""Safe roots: what is measured, what the theorem promises, and errors."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest

from jaxsolve import holdem as he
from jaxsolve import native
from jaxsolve.holdem._alternative_values import _place
from jaxsolve.holdem._cells import possible
from jaxsolve.holdem._safe_root import staying_out

pytestmark = pytest.mark.skipif(
    native.host_library("spots") is None, reason="safe roots are solved in C++"
)
SIZES = {"bet": ["75%"], "raise": ["a"]}
TURN = {
    "board": "Ts9s8s2h",
    "pot": 100,
    "stack": 150,
    "oop": "JJ,77,AKo,QJs,A5s,T8s",
    "ip": "TT,66,AQo,KJs,J9s,A4s",
    "sizes": SIZES,
}
LINE = "x x"
RIVER = "Ts9s8s2h3c"


@functools.cache
def turn() -> he.SpotResult:
    return he.solve(he.Spot.parse(TURN), iterations=2000, target=None, progress=False)


def river(board: str, player: int, theirs: np.ndarray) -> he.Spot:
    """Returns a river after checks: the range of a player of the solution, and one of the other."""
    reports = turn().reports
    node, at, image = _place(reports.spot, LINE, board)
    reach = np.zeros(1326)
    reach[reports.spot.hands] = reports.reach(1 - player, node, at)
    mine = np.where(possible(he.parse_cards(board)), reach[image], 0)
    ranges = (theirs, mine) if player == 0 else (mine, theirs)
    return he.Spot(he.parse_cards(board), 100, (150, 150), ranges, turn().spot.spot.sizes)


def support(player: int) -> np.ndarray:
    return (turn().spot.ranges[player] > 0).astype(float)


def solved(board: str, player: int, root: he.SafeRoot | None, theirs: np.ndarray) -> he.SpotResult:
    return he.solve(
        river(board, player, theirs), iterations=3000, target=None, progress=False, root=root
    )


@pytest.mark.parametrize("player", [0, 1])
def test_exploitability_is_that_of_the_game_with_the_choice(player: int):
    values = he.alternative_values(turn().reports, player, LINE, RIVER)
    root = he.SafeRoot(player, values)
    found = solved(RIVER, player, root, support(player))
    assert found.exploitability_chips < 0.02
    spot, engine = found.spot, found.solution.engine
    own = spot.player_hands[player]
    stay = staying_out(spot, root)
    best = np.full(1326, np.nan)
    best[spot.hands] = he.alternative_values(found.reports, player)[spot.hands]
    weight = found.reports.weight(player, 0, 0) / found.reports.scale
    net = ((best[spot.hands] - spot.betting.spent[0, player]) * weight)[own]
    mine = spot.ranges[player][spot.hands][own]
    most = float(mine @ np.maximum(np.nan_to_num(net), stay))
    payoff = found.values[player]
    assert payoff <= most + 1e-5
    assert most - payoff < 2 * found.exploitability_chips + 1e-5
    assert engine is not None


@pytest.mark.parametrize("player", [0, 1])
def test_no_hand_gets_more_than_before_whatever_the_range(player: int):
    """An unsafe river with a wrong guess of the range gives some hands much more."""
    values = he.alternative_values(turn().reports, player, LINE, RIVER)
    wrong = support(player) * (0.01 + 0.99 * np.random.default_rng(1).random(1326) ** 4)
    lost = {}
    for name, root in (("safe", he.SafeRoot(player, values)), ("unsafe", None)):
        found = solved(RIVER, player, root, wrong)
        best = he.alternative_values(found.reports, player)
        more = np.nan_to_num(best - values)
        weight = np.zeros(1326)
        weight[found.spot.hands] = found.reports.weight(player, 0, 0)
        lost[name] = float((np.maximum(more, 0) * weight).max() / weight.max())
    assert lost["safe"] < 0.2
    assert lost["unsafe"] > 10 * lost["safe"]


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path):
    """The choices at the root are part of the state."""
    root = he.SafeRoot(1, he.alternative_values(turn().reports, 1, LINE, RIVER))
    spot, options = river(RIVER, 1, support(1)), {"target": None, "progress": False, "root": root}
    whole = he.solve(spot, iterations=60, **options)
    he.solve(spot, iterations=30, out=tmp_path, **options)
    again = he.solve(spot, iterations=60, out=tmp_path, resume=True, **options)
    assert again.exploitability_chips == pytest.approx(whole.exploitability_chips, rel=1e-6)
    np.testing.assert_array_equal(again.node().strategy, whole.node().strategy)


def test_what_a_hand_gave_up_is_what_its_best_action_had_more():
    reports = turn().reports
    lost = he.gifts(reports, 0, [("", "x")])
    report = reports.node("")
    more = report.best.max(1) - report.best[:, report.actions.index("x")]
    np.testing.assert_allclose(lost[report.hands], more)
    assert lost.max() > 1
    assert not np.delete(lost, report.hands).any()


def test_bad_beliefs_are_refused():
    values, here = np.zeros(1326), support(0)
    with pytest.raises(ValueError, match=r"a belief are \[1326\], not \[3\]"):
        he.SafeRoot(0, values, np.ones(3))
    with pytest.raises(ValueError, match="weights of 0 and more"):
        he.SafeRoot(0, values, -here)
    with pytest.raises(ValueError, match="hands of the belief are not in the range of oop"):
        solved(RIVER, 0, he.SafeRoot(0, values, np.ones(1326)), here)


def test_bad_roots_are_refused():
    with pytest.raises(ValueError, match=r"0 \(oop\) or 1 \(ip\), not 2"):
        he.SafeRoot(2, np.zeros(1326))
    with pytest.raises(ValueError, match=r"values are \[1326\], not \[3\]"):
        he.SafeRoot(0, np.zeros(3))
    spot = river(RIVER, 0, support(0))
    with pytest.raises(ValueError, match="hands of oop have no value"):
        he.solve(spot, root=he.SafeRoot(0, np.full(1326, np.nan)), progress=False)
    with pytest.raises(ValueError, match="needs a C"):
        he.solve(spot, root=he.SafeRoot(0, np.zeros(1326)), solver="mmd", progress=False)


def belief(player: int) -> np.ndarray:
    weights = np.random.default_rng(2).random(1326) ** 4
    return np.asarray(support(player) * weights)


@pytest.mark.parametrize("player", [0, 1])
def test_with_promises_that_say_nothing_a_belief_is_a_range(player: int):
    """Who is promised more than there is stays out, and who comes is believed to."""
    root = he.SafeRoot(player, np.full(1326, 1e4), belief(player))
    found = solved(RIVER, player, root, support(player))
    plain = solved(RIVER, player, None, belief(player) + 1e-9 * support(player))
    best = [he.alternative_values(x.reports, player) for x in (found, plain)]
    weight = belief(player)
    mean = [float(np.nansum(weight * x) / weight[np.isfinite(x)].sum()) for x in best]
    assert mean[0] == pytest.approx(mean[1], abs=0.05)
    free = solved(RIVER, player, he.SafeRoot(player, np.full(1326, 1e4)), support(player))
    loose = he.alternative_values(free.reports, player)
    assert np.nansum(weight * loose) / weight[np.isfinite(loose)].sum() > mean[0] + 0.5


@pytest.mark.parametrize("player", [0, 1])
def test_a_belief_leaves_hands_what_they_were_promised(player: int):
    """A wrong belief alone gives some hands much more."""
    values = he.alternative_values(turn().reports, player, LINE, RIVER)
    root = he.SafeRoot(player, values, 0.1 * belief(player))
    lost = {}
    for name, (at, theirs) in {
        "safe": (root, support(player)),
        "unsafe": (None, belief(player) + 1e-9 * support(player)),
    }.items():
        found = solved(RIVER, player, at, theirs)
        if name == "safe":
            assert found.exploitability_chips < 0.02
        best = he.alternative_values(found.reports, player)
        more = np.maximum(np.nan_to_num(best - values), 0)
        weight = np.zeros(1326)
        weight[found.spot.hands] = found.reports.weight(player, 0, 0)
        lost[name] = float((more * weight).max() / weight.max())
    assert lost["safe"] < 0.3
    assert lost["unsafe"] > 5 * lost["safe"]
