"""`jaxsolve play`: a human against an agent, in the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from jaxsolve.cli import _setup

AGENTS = ("resolving", "equilibrium", "uniform")


def play(
    game: _setup.Game,
    agent: Annotated[str, typer.Option(help=", ".join(AGENTS))] = "resolving",
    policy: Annotated[
        Path | None, typer.Option(help="play against this policy.npz instead of an agent")
    ] = None,
    iterations: Annotated[int, typer.Option(help="of each search, or of the equilibrium")] = 300,
    matches: Annotated[int, typer.Option(help="how many; 0 for no end")] = 0,
    seat: Annotated[int, typer.Option(help="your seat in the first match; then by turns")] = 0,
    seed: Annotated[int, typer.Option(help="of the cards and of the agent")] = 0,
) -> None:
    """Play a game against an agent. End of input (Ctrl-D) stops."""
    if agent not in AGENTS:
        raise ValueError(f"unknown agent {agent!r}; choose one of {', '.join(AGENTS)}")
    if matches < 0 or iterations < 1 or seat not in (0, 1):
        raise ValueError("--matches must be 0 or more, --iterations positive, --seat 0 or 1")
    _setup.start_jax()
    import jaxsolve as js

    tree = js.compile(game)
    if tree.num_players != 2:
        raise ValueError(f"{game} has {tree.num_players} players; one can play 2-player games")
    opponent = _opponent(tree, agent, policy, iterations)
    total, played = 0.0, 0
    print("Type an action or its number; Ctrl-D ends.", file=sys.stderr)
    try:
        while not matches or played < matches:
            you = (seat + played) % 2
            total += one_match(tree, opponent, you, seed + played)
            played += 1
            print(f"total {total:+g} after {played}\n", flush=True)
    except EOFError:
        print()


def one_match(
    tree: Any, opponent: Any, you: int, seed: int, ask: Callable[[str], str] | None = None
) -> float:
    """Returns what the human won in one match.

    Args:
        tree: a compiled two-player game.
        opponent: an `agents.Agent`.
        you: the human's seat.
        seed: of cards and agent.
        ask: reads a line after a prompt; from the terminal by default.
    """
    import jax
    import jax.numpy as jnp
    import numpy as np

    from jaxsolve.agents import View
    from jaxsolve.types import CHANCE, TERMINAL

    read = input if ask is None else ask
    info = tree.info
    table = info.states
    key = jax.random.key(seed)
    rng = np.random.default_rng(seed)
    mind = opponent.init(jnp.int32(1 - you), jax.random.fold_in(key, 0))
    act = jax.jit(opponent.act)
    state, shown, step = 0, "", 0
    rows = {i: {int(x): k for k, x in enumerate(p.infostate)} for i, p in enumerate(info.players)}
    while (actor := int(table.actor[state])) != TERMINAL:
        below = np.flatnonzero(table.parent == state)
        moves = [int(a) for a in table.action[below]]
        step += 1
        if actor == CHANCE:
            odds = table.chance[below] / table.chance[state]
            state = int(rng.choice(below, p=odds / odds.sum()))
            continue
        row = rows[actor][int(table.infostate[state, actor])]
        if actor == you:
            label = info.label(you, row)
            if label != shown:
                print(f"you know: {label}")
                shown = label
            chosen = _choice([info.action_name(you, a) for a in moves], read)
        else:
            legal = np.zeros(info.game.num_actions, bool)
            legal[moves] = True
            view = View(jnp.int32(actor), jnp.int32(row), jnp.asarray(legal))
            decision, mind = act(mind, view, jax.random.fold_in(key, step))
            chosen = moves.index(int(decision.action))
            print(f"opponent: {info.action_name(actor, moves[chosen])}")
        state = int(below[chosen])
    won = float(table.utility[np.flatnonzero(table.terminal == state)[0], you])
    path = _path(info, table, state)
    print(f"{path}: you {'win' if won > 0 else 'lose' if won < 0 else 'are even,'} {abs(won):g}")
    return won


def _choice(names: list[str], read: Callable[[str], str]) -> int:
    words = ", ".join(f"{k} {name}" for k, name in enumerate(names))
    while True:
        text = read(f"[{words}] ").strip()
        if text in names:
            return names.index(text)
        if text.isdigit() and int(text) < len(names):
            return int(text)
        starts = [k for k, name in enumerate(names) if text and name.startswith(text)]
        if len(starts) == 1:
            return starts[0]
        print(f"{text!r} is none of: {words}")


def _path(info: Any, table: Any, state: int) -> str:
    words: list[str] = []
    while table.parent[state] >= 0:
        up = int(table.parent[state])
        words.append(info.action_name(int(table.actor[up]), int(table.action[state])))
        state = up
    return " ".join(reversed(words))


def _opponent(tree: Any, agent: str, policy: Path | None, iterations: int) -> Any:
    import jaxsolve as js
    from jaxsolve import agents
    from jaxsolve.public import no_limit, policy_of, public_game
    from jaxsolve.search.fixed import compose, continual

    if policy is not None:
        return agents.fixed(js.load_policy(tree, policy))
    if agent == "uniform":
        return agents.uniform()
    if agent == "equilibrium":
        found = js.solve(
            tree, "pcfr+", iterations=iterations, measure_every=iterations, progress=False
        )
        return agents.fixed(found.average)
    # The agent that searches in turn plays the same policy; all its searches at once are batches.
    print("searching at every public state ...", file=sys.stderr)
    public = public_game(tree.info.game)
    search = continual(public, no_limit, js.pcfr_plus(), iterations=iterations)
    return agents.fixed(policy_of(tree, public, compose(search, None)), name="resolving")
