"""Self-play from rules: resigning, limits of moves, and runs on pgx's games that go on."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import games
import jaxsolve as js
from jaxsolve import learn, nets
from jaxsolve.public import hidden_piece_model, made_model, top_of
from jaxsolve.search import growing_resolver

PAPER = js.cfr_plus().simultaneous()


def source_of(name: str, simulations: int = 2, **options: Any) -> tuple[nets.Net, learn.Source]:
    """A small network of a game, and self-play of four episodes."""
    rules = games.load(name)
    model, root = made_model(rules)
    resolver = growing_resolver(model, PAPER, simulations=simulations, root=root, top=top_of(rules))
    module = nets.ValueNetwork(8, 1, actions=model.num_actions)
    net = nets.make_net(model, module, jax.random.key(0), uniform_play=False)
    return net, learn.sound_self_play(resolver, episodes=4, q_search=0.0, **options)


def counts(source: learn.Source, net: nets.Net, steps: int) -> dict[str, float]:
    """What the source counts after some steps."""
    state, step = source.init(jax.random.key(1)), jax.jit(source.sample)
    for k in range(steps):
        _, state = step(net, state, jax.random.key(2 + k))
    assert source.counts is not None
    return {k: float(v) for k, v in source.counts(state).items()}


@pytest.mark.long
def test_episodes_end_by_resigning_and_by_the_limit():
    net, limited = source_of("pgx:tic_tac_toe", max_moves=3)
    found = counts(limited, net, 7)
    assert found["episodes"] == found["cut"] == 8  # nobody can have won after three moves
    assert (found["moves"], found["outcome"], found["resigned"]) == (3, 0, 0)
    # Whoever is worth less than nothing gives up: some do, and nobody where nobody may.
    net, gives_up = source_of("pgx:tic_tac_toe", resign_below=-1e-6)
    found = counts(gives_up, net, 7)
    assert found["resigned"] > 0
    assert found["resigned"] <= found["episodes"]
    net, stays = source_of("pgx:tic_tac_toe", resign_below=-1e-6, no_resign=1.0)
    assert counts(stays, net, 7)["resigned"] == 0


@pytest.mark.long
def test_a_run_on_a_game_of_pgx_goes_on_bit_for_bit(tmp_path: Path):
    net, source = source_of("pgx:tic_tac_toe", max_moves=9, p_td1=0.5)
    plan = learn.Plan(steps=4, updates=1, minibatch=4, buffer=64, policy_weight=1.0)
    whole = learn.train(net, source, plan, progress=False)
    learn.train(net, source, plan, out=tmp_path, until=2, log_every=2, progress=False)
    parts = learn.train(net, source, plan, out=tmp_path, resume=True, log_every=2, progress=False)
    for x, y in zip(*map(jax.tree.leaves, (whole.net.params, parts.net.params)), strict=True):
        np.testing.assert_array_equal(x, y)


def test_bad_input():
    rules = games.load("pgx:tic_tac_toe")
    model, root = made_model(rules)
    resolver = growing_resolver(model, PAPER, simulations=2, root=root, top=1)
    for options, message in (
        ({"resign_below": 0.5}, "resign_below=0.5 is a share"),
        ({"no_resign": 2.0}, "no_resign is a share"),
        ({"max_moves": 0}, "max_moves=0 must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            learn.sound_self_play(resolver, episodes=2, **options)
    module = nets.ValueNetwork(8, 1, body="conv 3x3x1")
    with pytest.raises(ValueError, match="takes 9 features; pgx:tic_tac_toe has 18"):
        nets.make_net(model, module, jax.random.key(0), uniform_play=False)


@pytest.mark.long
def test_random_openings_have_policies_and_no_outcomes():
    for opening, share in ((0, 1.0), (10**6, 0.0)):
        net, source = source_of("pgx:tic_tac_toe", p_td1=1.0, opening=opening)
        state, step = source.init(jax.random.key(1)), jax.jit(source.sample)
        for k in range(12):
            examples, state = step(net, state, jax.random.key(2 + k))
        assert examples.policy_weight.tolist() == [1.0] * 4  # decisions of nine moves ago
        assert examples.value_weight.max((1, 2)).tolist() == [share] * 4


@pytest.mark.slow  # half a minute of compiling
def test_what_searches_say_becomes_a_target():
    """Random tic-tac-toe, searched to the end from five stones on: targets are minimax values."""
    net, source = source_of("pgx:tic_tac_toe", simulations=60, p_root=1.0, opening=10**6)
    state, step = source.init(jax.random.key(1)), jax.jit(source.sample)
    seen = []
    for k in range(21):
        examples, state = step(net, state, jax.random.key(2 + k))
        for n in np.flatnonzero(np.asarray(examples.policy_weight)):
            mover, other = np.asarray(examples.public.features[n]).reshape(9, 2).T
            weight, value = (
                np.asarray(x[n, :, 0]) for x in (examples.value_weight, examples.values)
            )
            seat = int(mover.sum() + other.sum()) % 2
            assert weight.tolist() == [seat == 0, seat == 1]
            if mover.sum() + other.sum() >= 5:
                seen.append((minimax(mover, other), float(value[seat])))
    exact, said = np.array(seen).T
    assert set(exact) == {-1, 0, 1}
    assert np.abs(exact - said).max() < 0.1


def minimax(mover: np.ndarray, other: np.ndarray) -> int:
    """The value of a board of tic-tac-toe to the mover."""
    lines = ("012", "345", "678", "036", "147", "258", "048", "246")
    if any(all(other[int(k)] for k in line) for line in lines):
        return -1
    free = np.flatnonzero(mover + other == 0)
    places = np.eye(9)
    return max((-minimax(other, mover + places[k]) for k in free), default=0)


@pytest.mark.long
def test_short_waits_of_players_are_found_out():
    """Mr X waits for three detectives; a model that promises one decision stops the run."""
    line = ",".join(f"[{k},{k + 1}]" for k in range(1, 9))
    text = f"scotland_yard(edges=[{line},[2,10],[3,11]],evader=[9],detectives=[1,10,11],rounds=2)"
    model, root = hidden_piece_model(games.load(text))
    for wait, stops in ((model.wait, False), (1, True)):
        short = dataclasses.replace(model, wait=wait)
        resolver = growing_resolver(short, PAPER, simulations=1, root=root)
        module = nets.ValueNetwork(8, 1, actions=model.num_actions)
        net = nets.make_net(model, module, jax.random.key(0), uniform_play=False)
        source = learn.sound_self_play(resolver, episodes=4, q_search=0.0)
        plan = learn.Plan(steps=8, updates=1, minibatch=4, buffer=64)
        if stops:
            with pytest.raises(learn.NonFiniteError):
                learn.train(net, source, plan, progress=False)
        else:
            learn.train(net, source, plan, progress=False)
