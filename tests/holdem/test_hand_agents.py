"""Agents play by the rules, tell what they play, and see bets off their menu as tables do."""

from __future__ import annotations

import functools
import itertools

import jax
import numpy as np
import pytest
from few import few
from hand_agents import OTHER, POT, STACK, blueprint, chance_sums, game, hands_of

import games
from jaxsolve import holdem
from jaxsolve.holdem import play
from jaxsolve.search import pseudo_harmonic


@functools.cache
def openspiel(players: int, stack: int):
    pyspiel = pytest.importorskip("pyspiel", reason="the oracle of the rules")
    blinds, first = ("100 50", "2 1 1 1") if players == 2 else ("50 100 0", "3 1 1 1")
    return pyspiel.load_game(
        f"universal_poker(betting=nolimit,numPlayers={players},numRounds=4,blind={blinds},"
        f"firstPlayer={first},numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1,"
        f"stack={' '.join([str(stack)] * players)},bettingAbstraction=fullgame)"
    )


@pytest.mark.parametrize(
    ("players", "stack"), few([(2, 20_000), (2, 350), (3, 2_000), (3, 250)], (2, 350).__eq__)
)
def test_hands_are_those_of_openspiel(players: int, stack: int) -> None:
    """Move by move: who acts, what is legal, and what is won."""
    ours = holdem.no_limit(players)
    for number in range(40):
        cards = play.shuffled([7, number], players)
        agents = [play.RandomAgent()] * players
        keys = [players * number + i for i in range(players)]
        played = play.play_hand(agents, ours, stack, cards, keys=keys)
        theirs = openspiel(players, stack).new_initial_state()
        order = iter(cards)
        for after in played.hand.path():
            if after.move is None:
                continue
            assert after.before is not None
            while theirs.is_chance_node():
                theirs.apply_action(next(order))
            assert theirs.current_player() == after.before.actor
            can = after.before.can
            legal = theirs.legal_actions()
            raises = [to for to in legal if to > 1]
            assert (0 in legal, 1 in legal) == (can.fold, True)
            if can.low <= can.high:
                assert (min(raises), max(raises)) == (can.low, can.high)
            else:
                assert not raises
            move = {holdem.FOLD: 0, can.call: 1}.get(after.move, after.move)
            theirs.apply_action(move)
        while theirs.is_chance_node():
            theirs.apply_action(next(order))
        assert theirs.is_terminal()
        np.testing.assert_allclose(theirs.returns(), played.chips, atol=1e-3)


@pytest.mark.slow
def test_hands_are_those_of_the_game() -> None:
    """Pot and all-in, by `games.Holdem`, whose states are stepped with the same cards and moves."""
    rules = games.load("holdem(stack=2000,sizes=[1])")
    step, totals = jax.jit(rules.step), jax.jit(rules.totals)
    legal, utility = jax.jit(rules.legal), jax.jit(rules.utility)
    agents = blueprint(POT, True), blueprint(POT, True)
    for played in hands_of(*agents, count=25):
        state = rules.init()
        # There, the cards of a hand and of a flop come in ascending order.
        for cards in map(sorted, played.hands):
            for card in cards:
                state = step(state, card)
        for after in played.hand.path():
            if after.before is None:
                continue
            if after.move is None:
                for card in sorted(after.board[len(after.before.board) :]):
                    state = step(state, card)
                continue
            sized = [int(x) for x in totals(state)]
            moves = [holdem.FOLD, after.before.can.call, *sized]
            found = [a for a, to in enumerate(moves) if to == after.move and legal(state)[a]]
            assert found, (after, moves)
            state = step(state, found[0])
        np.testing.assert_allclose(utility(state), played.chips, atol=1e-3)


AGENTS = {
    "always-call": play.AlwaysCall,
    "random": play.RandomAgent,
    "pot": blueprint,
    "other": lambda: blueprint(OTHER),
}


@pytest.mark.parametrize("name", few(AGENTS, "pot".__ne__))
def test_what_an_agent_tells_is_what_it_plays(name: str) -> None:
    """A distribution over legal moves for every hand; the reach is the product of own moves."""
    agent, other = AGENTS[name](), play.RandomAgent()
    if name == "other":
        other = blueprint((("80%",), ("80%",)))  # between its sizes
    seen = off = 0
    for number, seat in itertools.product(range(12), range(2)):
        pair = [agent, other] if seat == 0 else [other, agent]
        played = hands_of(*pair, count=1, seed=number)[0]
        before = [h for h in played.hand.path() if h.move is not None]
        hand = play.new_hand(holdem.HUNL, STACK)
        state = agent.begin(hand, seat, number=0, key=seat)
        reach = np.ones(holdem.NUM_HANDS)
        cards = int(holdem.hand_index(*played.hands[seat]))
        for after, move in zip(before, played.moves, strict=True):
            here = after.before
            assert here is not None
            if here.actor != seat:
                continue
            told, state = agent.policy(state, here)
            again, _ = agent.policy(state, here)
            np.testing.assert_array_equal(told.policy, again.policy)
            live = holdem.possible(here.board)
            np.testing.assert_allclose(told.policy[live].sum(1), 1)
            assert not told.policy[~live].any()
            assert (np.diff(told.totals) > 0).all()
            assert all(here.can.allow(int(to)) for to in told.totals)
            np.testing.assert_allclose(told.reach[live], reach[live], atol=1e-12)
            assert move.totals is not None
            np.testing.assert_array_equal(move.totals, told.totals)
            np.testing.assert_array_equal(move.probabilities, told.policy[cards])
            assert told.reach[cards] > 0
            reach *= told.policy[:, told.totals == move.to][:, 0]
            seen += 1
            off += name in ("pot", "other") and len(state.node) > 1
    assert seen > 15
    if name in ("pot", "other"):
        assert off > 3  # where the hand may stand at two nodes of the menu


def test_on_its_menu_a_blueprint_plays_its_tables() -> None:
    agent = blueprint()
    table = holdem.Blueprint(agent.game, _tables(agent), 0.0)
    board = holdem.parse_cards("Td9d6h")
    hand = play.new_hand(holdem.HUNL, STACK).act(100).act(300).act(300).deal(board).act(300)
    told, _ = agent.policy(agent.begin(play.new_hand(holdem.HUNL, STACK), 1, number=0, key=0), hand)
    line = "c r300 c / x"
    assert told.totals.tolist() == [300, 900, 2000]
    assert table.actions(line) == ("x", "b600", "a")
    live = holdem.possible(board)
    np.testing.assert_allclose(told.policy[live], table.policy(line, board)[live], atol=1e-12)
    np.testing.assert_allclose(told.reach[live], table.reach(line, board)[live], atol=1e-12)
    np.testing.assert_allclose(play.range_of(agent, hand, 1), table.reach(line, board), atol=1e-12)
    raised, checked = table.policy("c")[:, 1], table.policy("c r300 c", board)[:, 0]
    np.testing.assert_allclose(play.range_of(agent, hand, 0), raised * checked, atol=1e-12)


def _tables(agent: play.BlueprintAgent):
    class Made:
        average = agent.sums

    return Made()


def test_a_bet_off_the_menu_is_a_mixture_of_two() -> None:
    """150 into 200 stands between 1/2 and 6/5 of the pot; the share is the mapping's."""
    agent = blueprint(OTHER)
    table = holdem.Blueprint(agent.game, _tables(agent), 0.0)
    board = holdem.parse_cards("Td9d6h")
    first = play.new_hand(holdem.HUNL, STACK)
    hand = first.act(100).act(100).deal(board).act(250)  # the big blind bets
    told, state = agent.policy(agent.begin(first, 1, number=0, key=0), hand)
    share = pseudo_harmonic(np.array(0.75), np.array(0.5), np.array(1.2))
    nodes = [agent.game.tree.find(f"c x / {bet}") for bet in ("b100", "b240")]
    assert sorted(nodes) == state.node.tolist()
    np.testing.assert_allclose(state.share, [share, 1 - share])
    live = holdem.possible(board)
    mixed = sum(
        w * table.policy(f"c x / {bet}", board) for w, bet in ((share, "b100"), (1 - share, "b240"))
    )
    assert told.totals.tolist() == [holdem.FOLD, 250, 650]  # both raise 4/5 of the real pot
    np.testing.assert_allclose(told.policy[live], mixed[live])
    raised = hand.act(650).act(1_500)  # beyond the last raise of the menu
    told, _ = agent.policy(state, raised)
    assert told.totals.tolist() == [1_500]


def test_what_is_refused() -> None:
    hand = play.new_hand(holdem.HUNL, STACK)
    for to in (holdem.FOLD - 1, 99, 150, 2_001):
        with pytest.raises(ValueError, match=f"a total of {to} is not allowed here; what is: fold"):
            hand.act(to)
    with pytest.raises(ValueError, match="no cards are due"):
        hand.deal([0, 1, 2])
    flop = hand.act(100).act(100)
    with pytest.raises(ValueError, match="nobody may act"):
        flop.act(100)
    for cards in ([0, 1], [0, 1, 1], [0, 1, 2, 3]):
        with pytest.raises(ValueError, match="3 new cards are due"):
            flop.deal(cards)
    with pytest.raises(ValueError, match="2 stacks of 2000"):
        blueprint().begin(play.new_hand(holdem.HUNL, 2_100), 0, number=0, key=0)
    with pytest.raises(ValueError, match="does not lead to"):
        hand.path(flop)
    with pytest.raises(ValueError, match="give one for each seat"):
        play.play_hand([play.AlwaysCall()], holdem.HUNL, STACK, range(9), keys=[0])
    with pytest.raises(ValueError, match="all different"):
        play.play_hand([play.AlwaysCall()] * 2, holdem.HUNL, STACK, [0] * 9, keys=[0, 0])

    class Wrong(play.AlwaysCall):
        def act(self, state, hand, cards, seconds=None):
            return play.Move(7), state

    with pytest.raises(play.AgentError, match="always-call: a total of 7 is not allowed"):
        play.play_hand([Wrong()] * 2, holdem.HUNL, STACK, range(9), keys=[0, 0])


def test_an_agent_is_told_its_time_and_gets_its_state_back() -> None:
    """As a search needs it: a limit for each decision, and what it knew at the one before."""

    class Counts(play.AlwaysCall):
        def act(self, state, hand, cards, seconds=None):
            asked.append((hand.street, state[1], seconds))
            move, _ = super().act(state[0], hand, cards)
            return move, (state[0], state[1] + 1)

        def begin(self, hand, seat, *, number, key):
            return super().begin(hand, seat, number=number, key=key), 0

        def end(self, state, hand, hands):
            ends.append((state[1], hand.over, hands))

    asked: list[tuple[int, int, float | None]] = []
    ends: list[tuple[int, bool, object]] = []
    cards = play.shuffled([0], 2)
    play.play_hand(
        [Counts(), play.AlwaysCall()], holdem.HUNL, STACK, cards, keys=[0, 0], seconds=1.5
    )
    assert asked == [(street, street, 1.5) for street in range(4)]
    assert ends == [(4, True, (tuple(cards[:2]), tuple(cards[2:4])))]


def test_matches_over_ranges_are_those_of_tables() -> None:
    """On the same boards: two blueprints, and one against a caller, in both orders."""
    here, agent, caller = game(POT), blueprint(), play.AlwaysCall()
    one = here, chance_sums(here)
    two = here, holdem.always(here, "c")
    same = holdem.range_match(one, two, boards=1, seed=3)
    for pair, sign in (((agent, caller), 1), ((caller, agent), -1)):
        found = play.agents_range_match(*pair, STACK, boards=1, seed=3)
        np.testing.assert_array_equal(found.boards, same.boards)
        np.testing.assert_allclose(found.chips, sign * same.chips, rtol=1e-4, atol=1e-3)
    two = here, holdem.uniform_sums(here)
    same = holdem.range_match(one, two, boards=1, seed=4)
    found = play.agents_range_match(agent, play.BlueprintAgent(*two), STACK, boards=1, seed=4)
    np.testing.assert_allclose(found.chips, same.chips, rtol=1e-4, atol=1e-3)
    assert abs(same.chips[0]) > 1


@pytest.mark.parametrize("raises", few([False, True], (True).__eq__))
def test_local_best_responses_are_those_to_tables(raises: bool) -> None:
    """On a menu of pot and all-in without end, which is what the responder bets."""
    agent = blueprint(POT, True)
    how = {"boards": 1, "runouts": 8, "seed": 5, "raises": raises}
    want = holdem.local_best_response((agent.game, agent.sums), **how)
    found = play.agent_local_best_response(agent, STACK, **how)
    np.testing.assert_array_equal(found.boards, want.boards)
    np.testing.assert_allclose(found.chips, want.chips, rtol=1e-4, atol=1e-3)
    assert found.chips[0] > 1


def test_a_caller_is_beaten_by_its_local_best_response() -> None:
    caller = play.agent_local_best_response(play.AlwaysCall(), STACK, boards=1, runouts=16)
    assert caller.mbb > 1_000
