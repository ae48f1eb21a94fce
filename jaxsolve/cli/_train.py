"""`jaxsolve train`: a network for one game, by sound self-play from its rules."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from jaxsolve.cli import _setup
from jaxsolve.cli._foreign import check_game
from jaxsolve.waiting import waiting

BUFFER_BYTES = 1 << 30
"""Most memory for examples that are kept; while it trains, a run holds them up to three times."""

SEARCH_BYTES = 1 << 30
"""Most memory for searches side by side on a CPU, where few are as fast as many."""


def train(
    game: _setup.Game,
    out: Annotated[Path, typer.Option(help="directory for network, curve.csv and checkpoints")],
    steps: Annotated[int, typer.Option(help="batches of self-play", min=1)] = 500,
    simulations: Annotated[int, typer.Option(help="of each search", min=1)] = 10,
    episodes: Annotated[int, typer.Option(help="played side by side", min=1)] = 16,
    width: Annotated[int, typer.Option(help="units of each layer of the network", min=1)] = 64,
    log_every: Annotated[int, typer.Option(help="steps between rows and checkpoints", min=1)] = 50,
    time_limit: Annotated[
        float | None, typer.Option(help="stop after so many seconds", min=0.0)
    ] = None,
    resign_below: Annotated[
        float | None, typer.Option(help="value below which a player resigns, such as -0.9")
    ] = None,
    max_moves: Annotated[
        int | None, typer.Option(help="moves after which an episode is a draw", min=1)
    ] = None,
    seed: Annotated[int, _setup.seed("of the network and of everything random")] = 0,
    resume: Annotated[bool, typer.Option("--resume", help="go on from the checkpoint")] = False,
    devices: _setup.Devices = None,
    distributed: Annotated[
        bool, typer.Option("--distributed", help="one of several processes that train together")
    ] = False,
) -> None:
    """Train a network that says what a game is worth, for searches from the rules.

    Two players, zero sum; the game is listed once for the sizes of its public states, but for games
    of pgx and Scotland Yard in London, whose sizes are known. The settings are those of
    `learn.preset("generic")`. `jaxsolve play GAME --net OUT/network` plays it.
    """
    _setup.check_out(out)
    from jaxsolve.game import PGX_PREFIX

    check_game(game, listed=not game.strip().startswith(PGX_PREFIX))
    _setup.start_jax(devices=devices, distributed=distributed)
    import jax

    import jaxsolve as js
    from jaxsolve.game import load
    from jaxsolve.public import made_model, top_of
    from jaxsolve.search import growing_resolver

    learn, nets = js.learn, js.nets
    rules = load(game)
    with waiting(f"listing the public states of {game}"):
        model, root = made_model(rules)
    chosen = learn.preset("generic")
    with waiting("making the network"):
        module = chosen.network(actions=model.num_actions, width=width)
        net = nets.make_net(model, module, jax.random.key(seed))
        resolver = growing_resolver(
            model, js.cfr_plus(2.0), simulations=simulations, root=root, top=top_of(rules)
        )
        limits: dict[str, Any] = {"resign_below": resign_below, "max_moves": max_moves}
        if jax.default_backend() == "cpu":  # one alone where private states differ, as in London
            most = max(1, SEARCH_BYTES // resolver.engine.search_bytes(root))
            limits["abreast"] = 1 if len(set(model.hands)) > 1 else most
        settings = chosen.self_play(
            episodes=episodes, solvers=episodes, fill=True, no_resign=0.2, **limits
        )
        source = learn.sound_self_play(resolver, settings)
    minibatch = min(chosen.minibatch, round(chosen.reuse * source.batch))
    # In a game such as London an example takes 60 kB.
    room = max(source.batch, BUFFER_BYTES // learn.example_bytes(net, source))
    buffer = min(chosen.buffer, room)
    sizes = {"minibatch": minibatch, "buffer": buffer}
    plan = chosen.plan(steps=steps, batch=source.batch, seed=seed, **sizes)
    try:
        trained = learn.train(
            net,
            source,
            plan,
            out=out,
            resume=resume,
            log_every=min(log_every, steps),
            time_limit=time_limit,
        )
    except KeyboardInterrupt:
        print(f"stopped; add --resume to go on from {out}", file=sys.stderr)
        raise typer.Exit(130) from None
    if not js.hosts.is_first():
        return
    nets.save_net(trained.net, out / "network")
    row = trained.curve[-1]
    print(f"step {row['step']}, loss {row['loss']:.4g}, written to {out}", file=sys.stderr)
    print(f'jaxsolve play "{game}" --net {out / "network"}', file=sys.stderr)
