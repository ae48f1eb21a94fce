"""Betting of hold'em, no-limit and fixed-limit, for 2 to 9 players, without cards.

Chips are whole numbers, and every amount is a total over the whole hand, so a raise is "to" what
the player has then put in. A hand alternates between streets of betting and chance, which deals
the next cards and then calls `next_street`.

No-limit follows the ACPC protocol (Annual Computer Poker Competition): the first raise of a hand
is at least to two big blinds, a bet at least a big blind, and a raise at least as large as the
largest one on its street; a player may always go all-in. Where three or more players leave more
to say, the rules of live poker hold (Tournament Directors Association 2019, rules 43 and 47):
an all-in of less than a full raise does not lower the next one, and does not give the right to
raise back to a player who has acted already, unless what they face by then adds up to a full
raise. Differs from the ACPC's code there, whose least raise after a short all-in counts from the
full raise before it.

Fixed-limit: a raise is by the street's size; `max_raises` counts raises, not blinds. An all-in of
at least half a size is a raise like any other; the next player may complete a shorter one to the
full size (Robert's Rules of Poker, "Betting and raising"; TDA rule 47 B).

Everywhere: fold only when facing a bet; nobody raises when no opponent has chips to answer; a
player whom nobody can answer, and who faces nothing, is not asked. A short blind is the amount to
call if no other is larger, as in the ACPC's code and pokerkit (card rooms ask for the whole one).

States may have leading axes: `[]` and `[n]` below stand for `[...]` and `[..., n]`. They are NumPy
arrays until an array of JAX comes in, so that a tree of betting is found without compiling.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from jaxsolve.types import CHANCE, TERMINAL

Numbers = Any
"""An array of NumPy or of JAX."""

FOLD = -1
"""The total that stands for a fold in `act`."""


@dataclasses.dataclass(frozen=True)
class Betting:
    """Rules of betting. Seats are numbered in the order in which they act after the first street.

    Attributes:
        num_players: n, 2 to 9.
        blinds: chips each seat posts before the cards, and may have to be raised.
        first: for each street, the seat that acts first, or the next one that is still in.
        limit: the size of a raise on each street; None for no limit.
        max_raises: raises on each street; None for any number.
        ante: chips that every seat posts besides; not part of the least bet.
    """

    num_players: int = 2
    blinds: tuple[int, ...] = (100, 50)
    first: tuple[int, ...] = (1, 0, 0, 0)
    limit: tuple[int, ...] | None = None
    max_raises: tuple[int, ...] | None = None
    ante: int = 0

    def __post_init__(self) -> None:
        n, streets = self.num_players, len(self.first)
        if not 2 <= n <= 9:
            raise ValueError(f"betting needs 2 to 9 players, not {n}.")
        if len(self.blinds) != n or min(self.blinds) < 0 or self.ante < 0:
            raise ValueError(
                f"blinds are one number of chips per seat, {n} in all, such as "
                f"{(50, 100, *[0] * n)[:n]}; not {self.blinds} with ante {self.ante}."
            )
        if not streets or not all(0 <= seat < n for seat in self.first):
            raise ValueError(f"first is a seat 0..{n - 1} for each street, not {self.first}.")
        for name, values in (("limit", self.limit), ("max_raises", self.max_raises)):
            if values is not None and (len(values) != streets or min(values) < (name == "limit")):
                raise ValueError(
                    f"{name} is None or one number per street, {streets} in all, not {values}."
                )

    @property
    def num_streets(self) -> int:
        """Streets of betting."""
        return len(self.first)

    @property
    def min_bet(self) -> int:
        """The least bet without a limit: the big blind, or one chip."""
        return max(1, *self.blinds)


class BetState(NamedTuple):
    """A state of the betting (n seats); int32 and bool arrays.

    Attributes:
        street: int32 [], 0 for the first.
        actor: int32 [], the seat to act; CHANCE when the next street's cards have to be dealt;
            TERMINAL when the hand is over.
        spent: int32 [n], chips put in over the whole hand.
        stack: int32 [n], chips before the hand.
        folded: bool [n].
        bet: int32 [], the largest `spent`, which the others have to match.
        full: int32 [], the total from which the next full raise counts: `bet`, except after an
            all-in of less than half a size in fixed-limit.
        min_raise: int32 [], the size of the smallest full raise.
        pending: bool [n], still has to act on this street.
        acted: bool [n], has acted on this street.
        raises: int32 [], full bets and raises on this street (without a limit: all).
    """

    street: Numbers
    actor: Numbers
    spent: Numbers
    stack: Numbers
    folded: Numbers
    bet: Numbers
    full: Numbers
    min_raise: Numbers
    pending: Numbers
    acted: Numbers
    raises: Numbers


class Options(NamedTuple):
    """What the actor may do; nobody can do anything at CHANCE and TERMINAL.

    Attributes:
        fold: bool [].
        call: bool [], check, call, or call all-in for less: `act` with `call_to`.
        low, high: int32 [], least and largest total of a raise; no raise if low > high. For an
            all-in that is less than a full raise low == high == stack.
    """

    fold: Numbers
    call: Numbers
    low: Numbers
    high: Numbers


def no_limit(num_players: int = 2, small: int = 50, big: int = 100, streets: int = 4) -> Betting:
    """Returns no-limit rules in the ACPC's seating.

    Two players: seat 0 posts the big blind, seat 1 (the button) the small one and acts first on
    the first street. More: seats 0 and 1 post, seat 2 acts first, the button is the last seat.
    """
    blinds = (big, small) if num_players == 2 else (small, big, *[0] * (num_players - 2))
    first = 1 if num_players == 2 else 2
    return Betting(num_players, blinds, (first, *[0] * (streets - 1)))


HUNL = no_limit()
"""Heads-up no-limit of the ACPC: blinds 50 and 100; stacks there are 20,000."""

NLFH = no_limit(streets=2)
"""No-limit flop hold'em: HUNL that ends after the betting on the flop."""


def six_max(small: int = 50, big: int = 100) -> Betting:
    """Returns six-player no-limit (Brown & Sandholm 2019, Pluribus: stacks of 10,000)."""
    return no_limit(6, small, big)


def start(rules: Betting, stacks: Numbers | int | tuple[int, ...]) -> BetState:
    """Returns the state after blinds and antes are posted.

    Args:
        rules: of the betting.
        stacks: int [n] or [], chips before the hand.
    """
    xp = _arrays(stacks)
    stack = xp.broadcast_to(xp.asarray(stacks, xp.int32), (rules.num_players,))
    posts = xp.asarray(rules.blinds, xp.int32) + rules.ante
    return start_at(rules, 0, xp.minimum(posts, stack), stack)


def start_at(
    rules: Betting,
    street: Numbers | int,
    spent: Numbers | tuple[int, ...],
    stacks: Numbers | int | tuple[int, ...],
    folded: Numbers | tuple[bool, ...] | None = None,
) -> BetState:
    """Returns the state at the beginning of a street: a spot.

    Args:
        rules: of the betting.
        street: int [].
        spent: int [n], chips each seat has put in so far, at most its stack.
        stacks: int [n] or [], chips before the hand, those in `spent` included.
        folded: bool [n], seats that are out; nobody by default.
    """
    xp = _arrays(street, spent, stacks, folded)
    spent = xp.asarray(spent, xp.int32)
    spent = xp.broadcast_to(spent, np.broadcast_shapes(spent.shape, (rules.num_players,)))
    out = xp.zeros(spent.shape, bool) if folded is None else xp.asarray(folded, bool)
    street = xp.broadcast_to(xp.asarray(street, xp.int32), spent.shape[:-1])
    zero = xp.zeros_like(street)
    state = BetState(
        street=street,
        actor=zero,
        spent=spent,
        stack=xp.broadcast_to(xp.asarray(stacks, xp.int32), spent.shape),
        folded=out,
        bet=spent.max(-1),
        full=spent.max(-1),
        min_raise=zero + rules.min_bet if rules.limit is None else _of_street(rules.limit, street),
        pending=~out,
        acted=xp.zeros(spent.shape, bool),
        raises=zero,
    )
    return _turn(rules, state, _of_street(rules.first, street))


def next_street(rules: Betting, state: BetState) -> BetState:
    """Returns the state after chance has dealt the cards of the next street."""
    return start_at(rules, state.street + 1, state.spent, state.stack, state.folded)


def call_to(state: BetState) -> Numbers:
    """Returns the actor's total after a check or call, int32 []."""
    return _arrays(*state).minimum(state.bet, _of_seat(state.stack, state.actor))


def options(rules: Betting, state: BetState) -> Options:
    """Returns what the actor may do."""
    xp, i = _arrays(*state), state.actor
    own, stack = _of_seat(state.spent, i), _of_seat(state.stack, i)
    playing = i >= 0
    faces = state.bet - own
    step = state.min_raise
    others = ~state.folded & (xp.arange(rules.num_players) != i[..., None])
    allowed = (
        playing
        & (stack > state.bet)
        & (others & (state.stack > state.bet[..., None])).any(-1)
        & (~_of_seat(state.acted, i) | (_weight(rules, faces) >= step))
    )
    if rules.max_raises is not None:
        allowed &= state.raises < _of_street(rules.max_raises, state.street)
    low = xp.minimum(state.full + step, stack)
    high = stack if rules.limit is None else low
    return Options(
        fold=playing & (faces > 0),
        call=playing,
        low=xp.where(allowed, low, xp.int32(1)),
        high=xp.where(allowed, high, xp.int32(0)),
    )


def act(rules: Betting, state: BetState, to: Numbers | int) -> BetState:
    """Returns the state after the actor's move.

    Args:
        rules: of the betting.
        state: with a seat to act.
        to: int [], FOLD, `call_to(state)`, or a raise to a total that `options` allow. What they
            do not allow is not refused.
    """
    xp = _arrays(*state, to)
    to = xp.asarray(to, xp.int32)
    here = xp.arange(rules.num_players) == state.actor[..., None]
    folds, raises = to < 0, to > state.bet
    full = raises & (_weight(rules, to - state.full) >= state.min_raise)
    if rules.limit is None:
        min_raise = xp.maximum(state.min_raise, to - state.bet)
        full = raises
    else:
        min_raise = state.min_raise
    state = state._replace(
        spent=xp.where(here & ~folds[..., None], to[..., None], state.spent),
        folded=state.folded | (here & folds[..., None]),
        bet=xp.maximum(state.bet, to),
        full=xp.where(full, to, state.full),
        min_raise=min_raise,
        pending=(state.pending | raises[..., None]) & ~here,
        acted=state.acted | here,
        raises=state.raises + full.astype(xp.int32),
    )
    return _turn(rules, state, (state.actor + 1) % rules.num_players)


def act_and_deal(rules: Betting, state: BetState, to: Numbers | int) -> BetState:
    """Returns the next state in which somebody acts, or in which nobody can act any more.

    That is `act`, and `next_street` where at least two can still bet.
    """
    after = act(rules, state, to)
    able = (~after.folded & (after.spent < after.stack)).sum(-1) > 1
    deals, xp = (after.actor == CHANCE) & able, _arrays(*after)
    dealt = next_street(rules, after)
    pairs = zip(dealt, after, strict=True)
    return BetState(*(xp.where(deals if x.ndim == deals.ndim else deals[..., None], x, y)
                      for x, y in pairs))  # fmt: skip


def payoffs(
    rules: Betting, state: BetState, strength: Numbers, *, whole_chips: bool = False
) -> Numbers:
    """Returns what each seat wins or loses, in chips.

    The main pot and each side pot go to the strongest hands among those that paid for all of it;
    what nobody else matched comes back. Ties divide a pot exactly, as in the ACPC's code, so a
    share can be a fraction of a chip.

    Args:
        rules: of the betting.
        state: at the end of a hand.
        strength: int [n], larger is better, equal is a tie; not read for those who folded.
        whole_chips: odd chips of a pot are not cut but go, one each, to the winners next after
            the button (the seats that act first on the last street).

    Returns:
        float32 [n], sums to zero.
    """
    n = rules.num_players
    alive = ~state.folded
    # Layers of chips: layer k ends where the k-th smallest stack of those still in ends.
    ends = jnp.sort(jnp.where(alive, state.spent, 0))
    starts = jnp.concatenate([jnp.zeros(1, jnp.int32), ends[:-1]])
    caps = ends.at[-1].set(state.spent.max())
    paid = jnp.minimum(state.spent, caps[:, None]) - jnp.minimum(state.spent, starts[:, None])
    pots = paid.sum(1)
    runs = alive & (state.spent >= ends[:, None])  # [layer, seat]
    ranked = jnp.where(runs, jnp.asarray(strength, jnp.int32), jnp.iinfo(jnp.int32).min)
    wins = runs & (ranked == ranked.max(1, keepdims=True))
    winners = wins.sum(1)
    if whole_chips:
        place = (jnp.arange(n) - rules.first[-1]) % n
        before = (wins[:, None, :] & (place < place[:, None])).sum(2)
        odd = before < (pots % winners)[:, None]
        shares = (pots // winners)[:, None] + odd
    else:
        shares = (pots / winners)[:, None]
    won = jnp.where(wins, shares, 0).astype(jnp.float32).sum(0)
    return won - state.spent


def portion(pot: Any, fraction: Fraction | float | str) -> Any:
    """Returns a fraction of the pot in whole chips, halves rounded up.

    The fraction is taken as it is written (0.7 is seven tenths, not the nearest binary number)
    and all arithmetic is in integers, so that host and device agree for every pot.

    Args:
        pot: int or int32 [...], of NumPy or JAX; times the numerator below 2**30.
        fraction: such as 0.75, "1/3" or Fraction(1, 3).
    """
    exact = Fraction(str(fraction))
    return (2 * exact.numerator * pot + exact.denominator) // (2 * exact.denominator)


def raise_to(rules: Betting, state: BetState, fraction: Fraction | float | str) -> Numbers:
    """Returns the total of a bet or raise by a fraction of the pot, int32 [].

    By the arithmetic of postflop solvers: a raise is to what is faced plus the fraction of the
    pot after calling; then moved into the interval of `options`. Not meaningful where the actor
    may not raise.
    """
    low, high = options(rules, state)[2:]
    after_call = state.spent.sum(-1) + state.bet - _of_seat(state.spent, state.actor)
    return _arrays(*state).clip(state.bet + portion(after_call, fraction), low, high)


def _weight(rules: Betting, chips: Numbers) -> Numbers:
    """Returns what an amount counts for against a full raise: with a limit, half of one will do."""
    return chips if rules.limit is None else 2 * chips


def _turn(rules: Betting, state: BetState, first: Numbers) -> BetState:
    """Returns the state with the next actor: the first pending seat from `first` on."""
    xp, n = _arrays(*state, first), rules.num_players
    able = ~state.folded & (state.spent < state.stack)
    unanswered = state.spent < state.bet[..., None]  # or nobody is left to bet against
    answered = (able.sum(-1) > 1)[..., None] | unanswered
    contested = (~state.folded).sum(-1) > 1
    pending = state.pending & able & answered & contested[..., None]
    distance = (xp.arange(n) - first[..., None]) % n
    seat = xp.argmin(xp.where(pending, distance, n), -1)
    over = ~contested | (state.street == rules.num_streets - 1)
    ended = xp.where(over, TERMINAL, CHANCE)
    actor = xp.where(pending.any(-1), seat, ended).astype(xp.int32)
    return state._replace(actor=actor, pending=pending)


def _arrays(*values: Any) -> Any:
    """Returns `jax.numpy` where any value is an array of JAX, `numpy` elsewhere."""
    return jnp if any(isinstance(x, jax.Array) for x in values) else np


def _of_seat(values: Numbers, seat: Numbers) -> Numbers:
    """Returns what a seat [] has of `values` [n], seat 0's where nobody acts."""
    xp = _arrays(values, seat)
    return xp.take_along_axis(values, xp.maximum(seat, 0)[..., None], -1)[..., 0]


def _of_street(values: tuple[int, ...], street: Numbers) -> Numbers:
    """Returns a street's number, int32 []; the last one's after the last street."""
    xp = _arrays(street)
    return xp.asarray(values, xp.int32)[xp.minimum(street, len(values) - 1)]
