"""Sound self-play: episodes, memories, queries and targets against independent reckonings."""

from __future__ import annotations

import functools
import importlib.util
import math
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from compiled import OPTIMISED
from few import few

import games
import jaxsolve as js
from jaxsolve import learn, nets
from jaxsolve.evaluate import respond
from jaxsolve.learn import _train
from jaxsolve.learn._board import tensorboard
from jaxsolve.learn.sound import _play, _queue, _search
from jaxsolve.public import PublicTable, hidden_piece_model, public_table, rules_model
from jaxsolve.search import growing_resolver, resolve_game, solve_whole
from jaxsolve.search.growing._solve import growing_search

SMALL = "leduc(suits=1,raises=1)"
TOWN = "scotland_yard(edges=[[1,2],[2,3],[3,4],[4,1],[3,5]],evader=[3,4],detectives=[1],rounds=3)"
E, S = 64, 32
Q_SEARCH, Q_RECURSIVE, P_TD1 = 1.3, 0.4, 0.25


@functools.cache
def table(name: str) -> PublicTable:
    return public_table(games.load(name))


@functools.cache
def net(name: str) -> nets.Net:
    return nets.make_net(table(name), nets.ValueNetwork(16, 1), jax.random.key(0))


@functools.cache
def resolver() -> Any:
    """All of Kuhn is in the tree after a few of 80 simulations."""
    return growing_resolver(table("kuhn"), js.cfr_plus(2.0), simulations=80)


@functools.cache
def source() -> learn.Source:
    return learn.sound_self_play(
        resolver(),
        episodes=E,
        solvers=S,
        q_search=Q_SEARCH,
        q_recursive=Q_RECURSIVE,
        p_td1=P_TD1,
        queue=256,
    )


@functools.cache
def sample() -> Any:
    return jax.jit(source().sample, compiler_options=OPTIMISED)


@functools.cache
def history(steps: int = 40) -> tuple[list[Any], list[Any]]:
    """Returns states before each step and after the last, and the examples of each."""
    state = source().init(jax.random.key(0))
    states, made = [state], []
    for k in range(steps):
        examples, state = sample()(net("kuhn"), state, jax.random.fold_in(jax.random.key(1), k))
        states.append(
            jax.device_get(state._replace(episodes=state.episodes._replace(seats=(), trees=())))
        )
        made.append(jax.device_get(examples))
    return states, made


@pytest.mark.slow  # many episodes
def test_public_states_are_visited_as_often_as_the_composed_policy_reaches_them():
    where = table("kuhn")
    weight = where.weight[where.subgame_class]
    reaches = []
    for k in range(48):  # which equilibrium of Kuhn a search finds depends on its simulations
        found = respond(where, resolve_game(resolver(), net("kuhn"), jax.random.key(k)))
        pairs = np.einsum("pab,pa,pb->p", weight, found.reach[:, 0], found.reach[:, 1])
        reaches.append(pairs * where.mass / where.mass[0])
    reach, unsure = np.mean(reaches, 0), np.var(reaches, 0) / len(reaches)
    states, _ = history(120)
    classes = np.concatenate([np.asarray(s.episodes.root) for s in states[:-1]])
    episodes = int(states[-1].ended)
    assert episodes > 2500
    # Each public state is its own subgame_class here, and is seen once in an episode at most.
    counts = np.bincount(classes, minlength=4)[where.subgame_class]
    starts = episodes + E  # lanes whose episode goes on; their start is counted, too
    assert abs(counts[0] - starts) <= E
    variance = counts[0] * reach[1:] * (1 - reach[1:]) + counts[0] ** 2 * unsure[1:]
    off = (counts[1:] - counts[0] * reach[1:]) ** 2 / variance
    assert off.sum() < 16.3  # chi-square of 3 degrees of freedom, 1 in 1,000
    value = float(states[-1].outcome) / episodes
    assert abs(value + 1 / 18) < 4 * 1.3 / math.sqrt(episodes)


def test_queries_come_as_often_as_asked():
    """Sound self-play's queries: so many for each search and each solved query, none is lost."""
    where = table("kuhn")
    states, made = history()
    steps, last = len(states) - 1, states[-1]
    # A search asks about nothing if its root has no public states below: that of a seat's second
    # decision, and those of queries about the last decision.
    second = [p for p in range(4) if where.parent[p] > 0]
    inner = (where.transitions.child >= 0).any(-1)
    classes = np.concatenate([np.asarray(s.episodes.root) for s in states[:-1]])
    actors = int((~np.isin(classes, where.subgame_class[second])).sum())
    works = np.concatenate([x.policy_weight[E:] > 0 for x in made])
    solvers = int(inner[np.concatenate([x.public[E:] for x in made])[works]].sum())
    assert actors > 1300
    assert solvers > 130
    for sent, searches, mean in ((0, actors, Q_SEARCH), (1, solvers, Q_RECURSIVE)):
        share = mean - math.floor(mean)
        spread = math.sqrt(searches * share * (1 - share))
        assert abs(int(last.asked[sent]) - searches * mean) < 4 * spread
    assert int(works.sum()) == int(last.searches) - steps * E
    assert int(last.asked.sum()) == works.sum() + int(last.queue.waiting) + int(last.lost)


def test_solved_queries_are_worth_what_their_subgames_are():
    """Sound self-play's targets: the values of the subgames that queries ask about, solved anew."""
    where = table("kuhn")
    _, made = history()
    some = jax.tree.map(lambda *x: np.concatenate(x)[:200], *made[5:15])
    rows = np.flatnonzero(some.value_weight.all((1, 2)))
    assert len(rows) >= 40
    whole = growing_search(where, js.pcfr_plus(), simulations=4, capacity=4)

    @jax.jit
    @jax.vmap
    def exact(subgame_class: Any, beliefs: Any) -> Any:
        return solve_whole(whole, subgame_class, beliefs, jnp.int32(1000)).root_values

    unit = np.asarray(net("kuhn").unit(where.states.at(some.public[rows])))[:, None, None]
    beliefs = some.beliefs[rows]
    want = np.asarray(exact(some.public[rows], beliefs)) / unit
    # Single hands may have several values; what both beliefs weigh them to is that of the subgame.
    each = (beliefs * (some.values[rows] - want)).sum(-1)
    np.testing.assert_allclose(each, 0, atol=0.05)
    assert np.abs((beliefs * want).sum(-1)).max() > 0.2
    legal = np.asarray(where.transitions.legal)[some.public[rows]]
    held = legal.any(1)
    np.testing.assert_allclose(some.policy[rows].sum(1)[held], 1, atol=1e-5)


def test_decisions_come_back_with_their_outcome():
    """Outcomes weighed by the chance of meeting the other's beliefs, for the pair that met."""
    where = table("kuhn")
    _, made = history()
    late = where.depth
    assert not any(x.policy_weight[:E].any() for x in made[:late])
    assert all((x.policy_weight[:E] == 1).all() for x in made[late:])
    classes = jax.tree.map(
        lambda *x: np.concatenate(x), *[jax.tree.map(lambda x: x[:E], x) for x in made[late:]]
    )
    td = classes.value_weight.any((1, 2))
    spread = math.sqrt(P_TD1 * (1 - P_TD1) / len(td))
    assert abs(td.mean() - P_TD1) < 4 * spread
    assert (classes.value_weight[td].sum(-1) == 1).all()
    unit = np.asarray(net("kuhn").unit(where.states.at(classes.public)))[:, None]
    hand = classes.value_weight.argmax(-1)
    found = (classes.values * classes.value_weight).sum(-1) * unit
    weight = where.weight[classes.public]
    for n in np.flatnonzero(td)[:200]:
        h0, h1 = hand[n]
        against = (weight[n, h0] @ classes.beliefs[n, 1], classes.beliefs[n, 0] @ weight[n, :, h1])
        outcome = found[n] / against
        assert outcome[0] == pytest.approx(-outcome[1], abs=1e-4)
        assert min(abs(abs(outcome[0]) - x) for x in (1, 2)) < 1e-4


@pytest.mark.parametrize("options", [{"ask_every": 4}, {"skip_solved": True}, {"warm": 1.0}])
def test_searches_with_other_options_are_other_settings(options: dict[str, Any]):
    both = [
        learn.sound_self_play(
            growing_resolver(table("kuhn"), js.cfr_plus(2.0), simulations=8, **some), episodes=2
        )
        for some in ({}, options)
    ]
    assert both[0].settings != both[1].settings


@pytest.mark.slow  # two programs of self-play
def test_searches_one_by_one_are_those_side_by_side():
    """One by one, a player with fewer private states has a program of their own on a CPU."""
    model, root = hidden_piece_model(games.load(TOWN))
    assert min(model.hands) < max(model.hands)
    town = nets.make_net(model, nets.ValueNetwork(8, 1), jax.random.key(0), uniform_play=False)
    searches = growing_resolver(model, js.cfr_plus(2.0), simulations=6, root=root)
    made = []
    for options in ({"abreast": 1}, {"abreast": 4}, {"abreast": 99}):
        chosen = learn.sound_self_play(searches, episodes=4, solvers=2, p_td1=0.5, **options)
        state, step = chosen.init(jax.random.key(1)), jax.jit(chosen.sample)
        for k in range(3):
            examples, state = step(town, state, jax.random.key(k))
        made.append((examples, state.searches))
    assert made[0][1] > 4
    for found in made[1:]:
        for x, y in zip(*map(jax.tree.leaves, (made[0], found)), strict=True):
            np.testing.assert_allclose(x, y, atol=1e-4)


@pytest.mark.slow  # half a minute of compilation
def test_a_resumed_run_is_the_same_and_other_settings_are_refused(tmp_path: Path):
    plan = learn.Plan(steps=6, updates=2, minibatch=32, buffer=4 * source().batch)

    def run(source: learn.Source, **options: Any) -> learn.Trained:
        return learn.train(net("kuhn"), source, plan, log_every=2, progress=False, **options)

    whole = run(source())
    compiled = _train.train_steps._cache_size()
    first = run(source(), out=tmp_path, until=4)
    assert [row["step"] for row in first.curve] == [2, 4]
    assert _train.train_steps._cache_size() == compiled
    second = run(source(), out=tmp_path, resume=True)
    timed = {"seconds", "searches_per_second"}
    for a, b in zip(second.curve, whole.curve, strict=True):
        assert {k: a[k] for k in a if k not in timed} == {k: b[k] for k in b if k not in timed}
    for x, y in zip(*map(jax.tree.leaves, (second.state, whole.state)), strict=True):
        np.testing.assert_array_equal(x, y)
    assert whole.curve[-1]["searches"] > 6 * E
    assert whole.curve[-1]["age"] == 1.5
    other = learn.sound_self_play(
        resolver(), episodes=E, solvers=S, q_search=Q_SEARCH, q_recursive=0.3, queue=256
    )
    with pytest.raises(ValueError, match="other settings"):
        run(other, out=tmp_path, resume=True)

    def explodes(net: Any, state: Any, key: Any) -> Any:
        examples, after = source().sample(net, state, key)
        growing = jnp.where(state.step == 3, 1e4, 1.0)
        return examples._replace(values=examples.values * growing), after

    with pytest.raises(learn.NonFiniteError, match="batch 3"):
        run(source()._replace(sample=explodes))


@pytest.mark.slow  # two more programs of self-play
def test_searches_in_turn_are_those_side_by_side():
    """Five searches, two at a time: the last two are one and padding."""
    few_searches = growing_resolver(table("kuhn"), js.cfr_plus(2.0), simulations=3)
    found = []
    for abreast in (None, 2):
        source = learn.sound_self_play(few_searches, episodes=4, solvers=1, abreast=abreast)
        step = jax.jit(source.sample)
        state, rows = source.init(jax.random.key(0)), []
        for k in range(3):
            examples, state = step(net("kuhn"), state, jax.random.key(k))
            rows.append(examples)
        found.append((rows, state.searches))
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, atol=1e-5), *found)


@pytest.mark.parametrize("name", few([SMALL, TOWN], SMALL.__eq__))
def test_uniform_episodes_see_what_uniform_play_reaches(name: str):
    """Chance below a decision, private states that merge, and ends within a public state."""
    where = table(name)
    rows = where.device_transitions
    count = 6000
    engine = growing_resolver(where, js.cfr_plus(), simulations=1).engine
    longest = where.depth
    legal = where.transitions.legal[where.subgame_class]
    uniform = legal / np.maximum(legal.sum(1, keepdims=True), 1)
    found = respond(where, uniform)

    def episode(key: Any) -> Any:
        start, moves = jax.random.split(key)

        def move(carry: Any, draw: Any) -> Any:
            subgame_class, pair, over = carry
            act, chance = draw
            seat = rows.actor[subgame_class]
            options = rows.legal[subgame_class, :, pair[seat]]
            action = (act * options.sum()).astype(jnp.int32)
            ended, outcome, child, after = _play.step(
                rows, subgame_class, subgame_class, pair, action, chance
            )
            seen = jnp.where(over, where.num_classes, subgame_class)
            state = (rows.child[subgame_class, child], after, over | ended)
            return state, (seen, jnp.where(over, 0, outcome))

        pair = _play.deal(engine, jnp.int32(0), rows.factor.dtype, start)
        first = (jnp.int32(0), pair, jnp.bool_(False))
        (_, _, over), seen = jax.lax.scan(move, first, jax.random.uniform(moves, (longest, 2)))
        return over, seen

    over, (classes, outcomes) = jax.jit(jax.vmap(episode))(
        jax.random.split(jax.random.key(0), count)
    )
    assert bool(over.all())
    total = np.asarray(outcomes).sum(1)
    assert abs(total.mean() - found.value[0]) < 4 * total.std() / math.sqrt(count)
    weight = where.weight[where.subgame_class]
    reach = [r[:, : weight.shape[1 + i]] for i, r in enumerate(found.reach.swapaxes(0, 1))]
    reached = np.einsum("pab,pa,pb->p", weight, *reach) * where.mass / where.mass[0]
    want = np.bincount(where.subgame_class, reached, where.num_classes)
    got = np.bincount(np.asarray(classes).ravel(), minlength=where.num_classes + 1)[:-1] / count
    spread = np.sqrt(want / count)
    assert (np.abs(got - want) <= 4.5 * spread + 1e-9).all()


def test_tensorboard_is_written_where_it_is_installed(tmp_path: Path, monkeypatch: Any):
    assert tensorboard(tmp_path) is None or importlib.util.find_spec("tensorboardX")
    writer = ModuleType("tensorboardX")
    writer.__spec__ = ModuleSpec("tensorboardX", None)
    writer.SummaryWriter = lambda folder: SimpleNamespace(folder=folder)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tensorboardX", writer)
    assert tensorboard(tmp_path / "run").folder == str(tmp_path / "run" / "tensorboard")


def test_the_queue_is_first_in_first_out_and_loses_the_oldest():
    queue = _queue.Queue(jnp.zeros(5, jnp.int32), jnp.zeros((5, 2, 1)), jnp.int32(0), jnp.int32(0))
    want: list[int] = []
    rng = np.random.default_rng(0)
    number, lost = 0, 0
    for _ in range(40):
        subgame_class = jnp.arange(number, number + 4).reshape(2, 2)
        sends = rng.random((2, 2)) < 0.6
        beliefs = jnp.broadcast_to(subgame_class[..., None, None], (2, 2, 2, 1)).astype(float)
        queries = _search.Queries(jnp.zeros(2), subgame_class, beliefs)
        queue, gone = _queue.push(queue, queries, jnp.asarray(sends))
        want += [int(k) for k in np.asarray(subgame_class)[sends]]
        lost += max(len(want) - 5, 0)
        assert int(gone) == max(len(want) - 5, 0)
        want = want[-5:]
        classes, told, there, queue = _queue.pop(queue, 2)
        got, want = want[:2], want[2:]
        assert [int(k) for k, t in zip(classes, there, strict=True) if t] == got
        np.testing.assert_array_equal(np.asarray(told)[: len(got), 0, 0], got)
        assert int(queue.waiting) == len(want)
        number += 4
    assert lost > 0


@pytest.mark.slow
def test_weights_choose_what_counts():
    """A weight of 0 is as if the example were not there; no weights are weights of 1."""
    where = table("kuhn")
    both = nets.make_net(where, nets.ValueNetwork(8, 1, actions=2), jax.random.key(0))
    rng = np.random.default_rng(0)
    beliefs = jnp.asarray(rng.dirichlet(np.ones(3), (4, 2)))
    policy = jnp.asarray(rng.dirichlet(np.ones(2), (4, 3)).swapaxes(1, 2))
    values = jnp.asarray(rng.normal(size=(4, 2, 3)))
    examples = learn.Examples(jnp.arange(4), beliefs, values, policy)
    plan, states = learn.Plan(policy_weight=0.5, value_weight=2.0), where.states
    whole = learn.loss(both.params, both, states, examples, plan)
    np.testing.assert_allclose(
        learn.loss(both.params, both, states, examples.weighted(), plan), whole
    )
    half = jax.tree.map(lambda x: x[:2], examples)
    weights = jnp.asarray([1.0, 1, 0, 0])
    masked = examples._replace(
        value_weight=jnp.broadcast_to(weights[:, None, None], values.shape), policy_weight=weights
    )
    np.testing.assert_allclose(
        learn.loss(both.params, both, states, masked, plan),
        learn.loss(both.params, both, states.at(jnp.arange(2)), half, plan),
        rtol=1e-6,
    )


def test_bad_input():
    where = resolver()
    for options, message in (
        ({"episodes": 0}, "episodes=0"),
        ({"q_search": -1.0}, "q_search=-1"),
        ({"q_recursive": 1.0}, "the queue never ends"),
        ({"epsilon": 1.5}, "epsilon is a share"),
        ({"p_td1": -0.1}, "p_td1 is a share"),
        ({"temperature": 0.0}, "temperature must be"),
        ({"queue": 10}, "does not hold"),
        ({"abreast": 0}, "abreast=0"),
    ):
        with pytest.raises(ValueError, match=message):
            learn.sound_self_play(where, **options)
    for plan, message in (
        (learn.Plan(optimiser="lion"), "unknown optimiser"),
        (learn.Plan(decay=1.5), "decay=1.5"),
        (learn.Plan(updates=1, minibatch=960, reuse=5.0), "make 192 examples in a batch"),
    ):
        with pytest.raises(ValueError, match=message):
            learn.train(net("kuhn"), source(), plan, progress=False)
    with pytest.raises(ValueError, match="has no policy"):
        nets.policy_prior(net("kuhn"))


@pytest.mark.long  # two programs of self-play
def test_self_play_from_the_rules_is_that_of_the_table():
    """Equal keys: the same episodes, searches, queries and examples, without a list of states."""
    where, rules = table("kuhn"), games.load("kuhn")
    model, root = rules_model(rules, depth=3, worlds=6, hands=3, children=2, actions=2, scale=2.0)
    own = nets.make_net(model, nets.ValueNetwork(8, 1, actions=2), jax.random.key(0))
    found = []
    for searched in (
        growing_resolver(where, js.cfr_plus(2.0), simulations=4, capacity=8),
        growing_resolver(model, js.cfr_plus(2.0), simulations=4, capacity=8, root=root),
    ):
        made = learn.sound_self_play(
            searched, episodes=4, solvers=2, q_search=1.3, q_recursive=0.4, p_td1=0.5, queue=32
        )
        step, state = jax.jit(made.sample), made.init(jax.random.key(1))
        for k in range(10):
            examples, state = step(own, state, jax.random.key(k))
        counts = (state.ended, state.outcome, state.searches, state.asked, state.lost)
        found.append((examples, made.public_state(examples.public), counts))
    (table_examples, told, table_counts), (examples, alone, counts) = found
    for x, y in zip(table_counts, counts, strict=True):
        np.testing.assert_array_equal(x, y)
    np.testing.assert_allclose(alone.features, told.features, atol=1e-6)
    for name in ("beliefs", "values", "policy", "value_weight", "policy_weight"):
        np.testing.assert_allclose(
            getattr(examples, name), getattr(table_examples, name), atol=1e-4
        )
