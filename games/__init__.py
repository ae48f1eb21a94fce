"""Games as pure JAX rules, one file each.

`load("leduc(ranks=4)")` makes a game from a string, `games.Leduc(ranks=4)` from its class.
A new game is one file with an `ENTRY`, and one line in each of the three blocks below.
"""

from __future__ import annotations

from jaxsolve.game import Entry, Game, registered
from jaxsolve.game import load as _load

from . import (
    battleship,
    blotto,
    coin_toss,
    dark_chess,
    dark_hex,
    goofspiel,
    holdem,
    kuhn,
    leduc,
    liars_dice,
    matching_pennies,
    matrix,
    nolimit_leduc,
    oshi_zumo,
    phantom_ttt,
    rps_plus,
    scotland_yard,
    tic_tac_toe,
)
from .battleship import Battleship as Battleship
from .blotto import Blotto as Blotto
from .coin_toss import CoinToss as CoinToss
from .dark_chess import DarkChess as DarkChess
from .dark_hex import DarkHex as DarkHex
from .goofspiel import Goofspiel as Goofspiel
from .holdem import Holdem as Holdem
from .kuhn import Kuhn as Kuhn
from .leduc import Leduc as Leduc
from .liars_dice import LiarsDice as LiarsDice
from .matching_pennies import MatchingPennies as MatchingPennies
from .matrix import Matrix as Matrix
from .nolimit_leduc import NoLimitLeduc as NoLimitLeduc
from .oshi_zumo import OshiZumo as OshiZumo
from .phantom_ttt import PhantomTicTacToe as PhantomTicTacToe
from .rps_plus import RockPaperScissorsPlus as RockPaperScissorsPlus
from .scotland_yard import ScotlandYard as ScotlandYard
from .tic_tac_toe import TicTacToe as TicTacToe

GAMES: dict[str, Entry] = {
    "battleship": battleship.ENTRY,
    "blotto": blotto.ENTRY,
    "coin_toss": coin_toss.ENTRY,
    "dark_chess": dark_chess.ENTRY,
    "dark_hex": dark_hex.ENTRY,
    "goofspiel": goofspiel.ENTRY,
    "holdem": holdem.ENTRY,
    "kuhn": kuhn.ENTRY,
    "leduc": leduc.ENTRY,
    "liars_dice": liars_dice.ENTRY,
    "matching_pennies": matching_pennies.ENTRY,
    "matrix": matrix.ENTRY,
    "nolimit_leduc": nolimit_leduc.ENTRY,
    "oshi_zumo": oshi_zumo.ENTRY,
    "phantom_ttt": phantom_ttt.ENTRY,
    "rps_plus": rps_plus.ENTRY,
    "scotland_yard": scotland_yard.ENTRY,
    "tic_tac_toe": tic_tac_toe.ENTRY,
}
"""The games of this package by name."""


def load(text: str) -> Game:
    """Returns the game that a string describes: one of `GAMES` or an installed one.

    Args:
        text: `name` or `name(key=value,...)`, e.g. "goofspiel(cards=5,order=descending)".

    Raises:
        ValueError: the name, a parameter or the syntax is wrong.
    """
    return _load(text, registered())
