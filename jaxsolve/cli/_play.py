"""`jaxsolve play`: a human against an agent, in the terminal."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from jaxsolve.cli import _setup
from jaxsolve.cli._foreign import check_game
from jaxsolve.cli._terminal import Terminal

if TYPE_CHECKING:
    import numpy as np

    from jaxsolve.agents import Thought
    from jaxsolve.evaluate import Arena
    from jaxsolve.game import Agent, Game
    from jaxsolve.public import PublicModel
    from jaxsolve.tree import PublicTree

AGENTS = ("resolving", "sog", "equilibrium", "uniform", "obscuro", "klss", "determinized")

ON_POSITIONS = ("obscuro", "klss", "determinized")
"""Those that hold positions possible which fit what they saw; nothing is listed."""

SMALL = 1_000
"""Actions up to which a game that values its positions is tried as a list first."""

LISTED = 100_000
"""World states up to which a game is listed for an agent that nobody asked for by name."""


def play(
    game: _setup.Game,
    agent: Annotated[
        str | None, typer.Option(help=f"{', '.join(AGENTS)}; what fits the game by default")
    ] = None,
    net: Annotated[
        Path | None, typer.Option(help="network of sog (jaxsolve train), trained from the rules")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option(help="play against this policy.npz instead of an agent")
    ] = None,
    iterations: Annotated[int, typer.Option(help="of each search, or of the equilibrium")] = 300,
    matches: Annotated[int, typer.Option(help="how many; 0 for no end")] = 0,
    seat: Annotated[int, typer.Option(help="your seat in the first match; then by turns")] = 0,
    seed: Annotated[int, _setup.seed("of the cards and of the agent")] = 0,
    seconds: Annotated[float, typer.Option(help="of a move of obscuro and klss")] = 1.0,
    pgn: Annotated[
        Path | None, typer.Option(help="append finished games to this file (dark chess)")
    ] = None,
    stack: Annotated[
        str | None, typer.Option(help='of holdem at full size, such as "200bb"; a blueprint\'s')
    ] = None,
    players: Annotated[
        int | None, typer.Option(help="of holdem at full size; a blueprint's, or 2", min=2, max=9)
    ] = None,
) -> None:
    """Play a game against an agent. `?` is answered with help; end of input (Ctrl-D) stops.

    Agents play on the compiled game. Some need no table and play on the rules: the uniform one;
    sog, whose search trees grow from the rules (--iterations is their number of simulations);
    obscuro, klss and determinized, which hold possible what fits their observations (dark chess).
    By default card games are searched (resolving), other small games solved (equilibrium), obscuro
    plays a large game that values its positions, and the uniform agent any other. `play holdem`
    takes the agents of `holdem match` as well, such as search:DIR; `range` there draws its range
    and what it takes yours for.
    """
    if game == "holdem" and agent not in (None, *AGENTS):
        from jaxsolve.cli._play_holdem import play_holdem

        play_holdem(agent, matches=matches, seat=seat, seed=seed, stack=stack, players=players)
        return
    if stack is not None or players is not None:
        raise ValueError(
            '--stack and --players are for "jaxsolve play holdem --agent" with an agent of hold\'em'
        )
    if agent is not None and agent not in AGENTS:
        raise ValueError(f"unknown agent {agent!r}; choose one of {', '.join(AGENTS)}")
    if net is not None and agent not in (None, "sog"):
        raise ValueError(f"--net is the network of --agent sog, not of {agent}")
    if matches < 0 or iterations < 1 or seat < 0 or not seconds > 0:
        raise ValueError("--matches and --seat must be 0 or more, --iterations, --seconds positive")
    check_game(game, listed=agent in ("resolving", "equilibrium"))
    _setup.start_jax()
    from jaxsolve import agents, evaluate
    from jaxsolve.game import OpenSpielGame, WritesGames, load
    from jaxsolve.tree import listed

    rules = load(game)
    if pgn is not None and not isinstance(rules, WritesGames):
        raise ValueError(f"--pgn: games of {game} are not written as PGN; dark_chess's are")
    if seat >= rules.num_players:
        raise ValueError(f"--seat must be below {rules.num_players}, the players of {game}")
    terminal = Terminal()
    total, played = 0.0, 0
    try:
        terminal.wait("compiling the agent")
        label, tree = None, None
        if policy is not None:
            agent = "policy"
        elif agent is None:
            agent, tree = ("sog", None) if net is not None else _fitting(rules)
            terminal.stop()
            print(f"your opponent: --agent {agent}", file=sys.stderr)
            terminal.wait(f"compiling {agent}")
        if agent == "uniform" and not isinstance(rules, OpenSpielGame):
            arena: Arena = evaluate.rules_arena(rules, max_moves=10_000, max_rows=256)
            opponent = agents.uniform()
        elif agent in ON_POSITIONS:
            opponent = _on_positions(rules, agent, seconds)
            arena = evaluate.rules_arena(rules, max_moves=10_000)
        elif agent == "sog":
            opponent = _from_rules(rules, net, iterations, terminal.tell)
            arena = evaluate.rules_arena(rules)
        else:
            tree = _compiled(rules, agent) if tree is None else tree
            info = listed(tree)
            if isinstance(rules, OpenSpielGame):
                rules, label = info.game, info.label
            arena = evaluate.arena(tree)
            opponent = _opponent(tree, rules, agent, policy, iterations)
        human = agents.person(rules, terminal.ask, terminal.tell, label=label, rules=_about(rules))
        terminal.stop()
        print("Type an action, ? for help; Ctrl-D ends.", file=sys.stderr)
        while not matches or played < matches:
            you = (seat + played) % rules.num_players
            terminal.wait("compiling the match" if not played else "dealing")
            won, actions = one_match(
                arena, rules, human, opponent, you, seed + played, terminal.tell
            )
            total += won
            if pgn is not None and isinstance(rules, WritesGames):
                names = ("person", opponent.name) if you == 0 else (opponent.name, "person")
                with pgn.open("a", encoding="utf-8") as file:
                    file.write(rules.pgn(actions, names) + "\n")
            played += 1
            print(f"total {total:+g} after {played}\n", flush=True)
    except EOFError:
        print()
    finally:
        terminal.stop()


def one_match(
    arena: Arena,
    game: Game,
    human: Agent,
    opponent: Agent,
    you: int,
    seed: int,
    tell: Callable[[str], None] = print,
) -> tuple[float, list[int]]:
    """Returns what the human won in one match and its actions, and prints how it went.

    Args:
        arena: where it is played.
        game: whose words for actions are shown.
        human: an agent on the host (`agents.person`).
        opponent: in all other seats.
        you: the human's seat.
        seed: of cards and agents.
        tell: prints a line.
    """
    import jax

    from jaxsolve.evaluate import play_matches
    from jaxsolve.game import action_name
    from jaxsolve.types import TERMINAL

    seats = [human if i == you else opponent for i in range(arena.num_players)]
    key = jax.random.key(seed)
    match = play_matches(arena, seats, 1, key, mirror=False, keep_policies=False)
    won = float(match.utility[0, you])
    moves = zip(match.actors[0].tolist(), match.actions[0].tolist(), strict=True)
    path = " ".join(action_name(game, who, what) for who, what in moves if who != TERMINAL)
    tell(f"{path}: you {'win' if won > 0 else 'lose' if won < 0 else 'are even,'} {abs(won):g}")
    return won, [a for a in match.actions[0].tolist() if a >= 0]


def _fitting(rules: Game) -> tuple[str, PublicTree | None]:
    """Returns the agent that fits a game, strong and soon there, and the tree if there is one."""
    import jaxsolve as js
    from jaxsolve.compiler import TooManyStatesError
    from jaxsolve.game import EvaluatesPositions, OpenSpielGame, PgxGame

    if isinstance(rules, PgxGame):
        return "uniform", None
    if isinstance(rules, EvaluatesPositions) and rules.num_actions > SMALL:
        return "obscuro", None
    try:
        tree = js.compile(rules, max_states=LISTED)
    except TooManyStatesError:
        return "equilibrium" if isinstance(rules, OpenSpielGame) else "uniform", None
    # A search re-solves at every public state and takes five times as long to compile.
    return "equilibrium", tree


def _about(rules: Game) -> str:
    """Returns what the file of a game says of it: its first two paragraphs, the rules."""
    module = inspect.getmodule(type(rules))
    if module is None or module.__name__.startswith("jaxsolve.game."):
        return rules.name
    return "\n\n".join((inspect.getdoc(module) or rules.name).split("\n\n")[:2])


def _compiled(rules: Game, agent: str) -> PublicTree:
    import jaxsolve as js

    if agent == "resolving" and rules.num_players != 2:
        raise ValueError(
            f"{rules.name} has {rules.num_players} players, and searches are for 2; "
            "use --agent equilibrium or --agent uniform"
        )
    return js.compile(rules)


def _opponent(
    tree: PublicTree, rules: Game, agent: str, policy: Path | None, iterations: int
) -> Agent:
    import jaxsolve as js
    from jaxsolve import agents
    from jaxsolve.public import no_limit, public_table
    from jaxsolve.search.fixed import fixed_resolver
    from jaxsolve.search.resolving import resolve_game

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
    table = public_table(rules, cards=True)
    resolver = fixed_resolver(table, no_limit, js.pcfr_plus(), iterations=iterations)
    return agents.fixed(table.policy_of(tree, resolve_game(resolver, None)), name="resolving")


def _on_positions(rules: Game, agent: str, seconds: float) -> Agent:
    """Returns an agent that holds positions possible."""
    from jaxsolve import agents

    if agent == "determinized":
        return agents.determinized(rules, depth=2)
    made = agents.obscuro if agent == "obscuro" else agents.klss
    return made(rules, seconds=seconds)


def _from_rules(
    rules: Game,
    file: Path | None,
    simulations: int,
    tell: Callable[[str], None] | None = None,
    *,
    opening: int = 0,
) -> Agent:
    """Returns an agent that searches as Student of Games does, from the rules alone.

    Of a game that says beliefs in words, it tells after each move what all may now believe, where
    `tell` prints a line. Matches may begin with so many moves (`opening`) of somebody else.
    """
    import jax
    import jax.numpy as jnp

    import jaxsolve as js
    from jaxsolve import agents
    from jaxsolve.game import DescribesBeliefs
    from jaxsolve.public import RulesModel, made_model, room_for, rules_model, top_of
    from jaxsolve.search.growing import growing_resolver

    model, root = made_model(rules)
    value: Any = jax.tree_util.Partial(lambda state, beliefs: jnp.zeros_like(beliefs))
    prior = None
    if file is not None:
        from jaxsolve import nets

        value = nets.load_net(file)
        if value.format.game != rules.name:
            raise ValueError(f"{file} is a network of {value.format.game}, not of {rules.name}")
        listed = isinstance(model, RulesModel) and not top_of(rules)
        if listed and (
            model.hands != value.format.hands or model.format.scale != value.format.scale
        ):
            room = room_for(rules)
            room |= {"hands": value.format.hands, "scale": value.format.scale or 1.0}
            model, root = rules_model(rules, **room)
        prior = nets.policy_prior(value) if value.module.actions else None
    # Simulations that skip what is solved soon open all of a small game.
    resolver = growing_resolver(
        model,
        js.cfr_plus(4.0),
        simulations=simulations,
        root=root,
        skip_solved=True,
        top=top_of(rules),
        wait=max(model.wait, opening + 1),
    )
    log = None
    if tell is not None and isinstance(rules, DescribesBeliefs):
        words, say = rules.beliefs_in_words, tell

        def log(thought: Thought) -> None:
            say(_thought(words, model, thought))

    return agents.resolving(resolver, value, prior=prior, log=log, name="sog")


def _thought(words: Callable[[np.ndarray], str], model: PublicModel, thought: Thought) -> str:
    """Returns how far a search went, and beliefs after its move in words."""
    import jax.numpy as jnp
    import numpy as np

    from jaxsolve import search

    growth, at, child = thought.found.growth, thought.at, thought.child
    deep = search.depths(growth)
    text = f"sog searched: {len(deep)} public states opened, {deep.max()} decisions deep"
    if child < 0:
        return text
    after = model.transitions(growth.store).child[growth.row[at], child]
    if model.actor_of(model.root_of(growth.store, after)) < 0:  # all is about to be shown
        return text
    beliefs = search.beliefs_below(model, thought.found, at, jnp.int32(child))
    return f"{text}\n{words(np.asarray(beliefs))}"
