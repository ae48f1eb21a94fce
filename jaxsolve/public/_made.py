"""The public states of a game by its kind: one hidden number, nothing hidden, or any other."""

from __future__ import annotations

from typing import Any

from jaxsolve.game import Game, HidesPiece, PgxGame
from jaxsolve.public._hidden_piece import hidden_piece_model
from jaxsolve.public._room import room_for
from jaxsolve.public._rules import rules_model

LONGEST = {"pgx:chess": 512, "pgx:connect_four": 42, "pgx:tic_tac_toe": 9, "pgx:go_9x9": 162}
"""Moves of a game after which pgx ends it, where that is not 512."""

ALTERNATES = frozenset(
    f"pgx:{name}"
    for name in (
        *("animal_shogi", "chess", "connect_four", "gardner_chess", "go_9x9", "go_19x19", "hex"),
        *("othello", "shogi", "tic_tac_toe"),
    )
)
"""Games in which players move in turn, where it is the rule of `hex` that the first stone may be
swapped, a move as well."""

MOST_MOVES = {"pgx:chess": 218, "pgx:gardner_chess": 120}
"""Legal moves of a position at most (218: Petrovic 1964), where they are far fewer than actions."""


def made_model(game: Game) -> tuple[Any, Any]:
    """Returns (model of public states, where the first decision is made) for a two-player game.

    A game of pgx has public states of one world; a game that hides one number brings its tables;
    any other is listed once for its sizes.

    Args:
        game: the rules.

    Raises:
        ValueError: the game does not fit; says why.
    """
    if isinstance(game, HidesPiece) and _large(game):
        return hidden_piece_model(game)
    if isinstance(game, PgxGame):
        moves = MOST_MOVES.get(game.name, game.num_actions)
        return rules_model(
            game,
            depth=LONGEST.get(game.name, 512),
            worlds=1,
            hands=1,
            wait=2 if game.name in ALTERNATES else None,
            children=moves,
            actions=moves,
            branches=1,
        )
    return rules_model(game, **room_for(game))


def top_of(game: Game) -> int | None:
    """Returns k, the actions that a search adds at once: 1 in perfect information, else all."""
    return 1 if isinstance(game, PgxGame) else None


def _large(game: HidesPiece) -> bool:
    """Returns whether the hidden number has more values than a listed game would have."""
    return bool(game.move_tables().child.shape[-1] > 32)
