# %% [markdown]
# # A game of your own
#
# A game is a class with seven small functions. This notebook writes one that is not in the library,
# lets the library look for mistakes in it, solves it, and holds the solution against a formula.
#
# The game is a bluff with a twist: **whoever faces a bet may pay for a peek.** There are three
# cards, jack, queen and king. Both players pay one chip and get a card. Player 0 either *shows*,
# and the higher card wins, or *bets* a second chip. Facing a bet, player 1 may *fold*, *call*, or
# pay player 0 a *price* to look at their card, and then fold or call. What is a peek worth?

# %%
import dataclasses
from typing import NamedTuple

import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np

import jaxsolve as js
from jaxsolve.testing import check_game
from jaxsolve.types import CHANCE, NOTHING, TERMINAL

# %% [markdown]
# ## The rules
#
# The rules are pure JAX functions of one state. A state is a `NamedTuple` of small arrays; actions
# are numbers, those of chance (here: which two cards are dealt) included; and where a program would
# say `if`, the rules say `jnp.where` or look something up in a table.
#
# The only function that takes thought is `observe(state)`: what the step *into* this state showed,
# first to everybody and then to each player alone, with `NOTHING` for nothing. Infosets are not
# your task. What a player knows is the sequence of what they did and what they were shown, and the
# library works it out.


# %%
class State(NamedTuple):
    cards: jax.Array  # int8 [2], 0 jack, 1 queen, 2 king
    turn: jax.Array  # int8 [], a row of ACTOR and LEGAL
    last: jax.Array  # int8 [], the last action of a player, or NOTHING
    bet: jax.Array  # bool []
    peeked: jax.Array  # bool []


SHOW, BET = 0, 1
FOLD, CALL, PEEK = 0, 1, 2
NAMES = ("show", "bet"), ("fold", "call", "peek")
DEALS = np.array([(a, b) for a in range(3) for b in range(3) if a != b], np.int8)
# Turns: the deal, player 0, player 1, player 1 after a peek, the end.
ACTOR = np.array([CHANCE, 0, 1, 1, TERMINAL], np.int32)
LEGAL = np.arange(6) < np.array([6, 2, 3, 2, 0])[:, None]


@dataclasses.dataclass(frozen=True)
class Peek:
    price: float = 0.5

    num_players = 2
    num_actions = 6

    @property
    def name(self):
        return f"peek(price={self.price:g})"

    def init(self):
        no = jnp.bool_(False)
        return State(jnp.zeros(2, jnp.int8), jnp.int8(0), jnp.int8(NOTHING), no, no)

    def actor(self, state):
        return jnp.array(ACTOR)[state.turn]

    def legal(self, state):
        return jnp.array(LEGAL)[state.turn]

    def chance(self, state):
        return jnp.full(6, 1 / 6)

    def step(self, state, action):
        deals = state.turn == 0
        bets = (state.turn == 1) & (action == BET)
        peeks = (state.turn == 2) & (action == PEEK)
        return State(
            cards=jnp.where(deals, jnp.array(DEALS)[action], state.cards),
            turn=jnp.where(deals | bets | peeks, state.turn + 1, 4).astype(jnp.int8),
            last=jnp.where(deals, NOTHING, action).astype(jnp.int8),
            bet=state.bet | bets,
            peeked=state.peeked | peeks,
        )

    def observe(self, state):
        peek = jnp.array([NOTHING, state.cards[0]])
        private = jnp.select([state.turn == 1, state.turn == 3], [state.cards, peek], NOTHING)
        return state.last[None].astype(jnp.int32), private[:, None].astype(jnp.int32)

    def utility(self, state):
        higher = jnp.where(state.cards[0] > state.cards[1], 1.0, -1.0)
        folded = state.bet & (state.last == FOLD)
        won = jnp.where(folded, 1.0, jnp.where(state.bet, 2.0, 1.0) * higher)
        won = won + jnp.where(state.peeked, self.price, 0.0)
        return jnp.stack([won, -won])

    # Optional, for people who read tables:

    def action_name(self, actor, action):
        return str(DEALS[action]) if actor == CHANCE else NAMES[actor][action]

    def observation_name(self, public, private):
        card = "" if private[0] == NOTHING else "JQK"[private[0]]
        return card or ("bet" if public[0] == BET else "")


# %% [markdown]
# ## Checking them
#
# `check_game` plays the game in every way it can and at random, and looks for broken promises. Run
# it before anything else.

# %%
check_game(Peek())

# %% [markdown]
# Here is the same game with a mistake that is easy to make: nobody is told about the bet. Player 1
# then has to act without knowing that it is their turn.


# %%
class Silent(Peek):
    def observe(self, state):
        public, private = super().observe(state)
        return jnp.full_like(public, NOTHING), private


try:
    check_game(Silent())
except ValueError as error:
    print(error)

# %% [markdown]
# And one that adds up wrongly:


# %%
class Uneven(Peek):
    def chance(self, state):
        return jnp.full(6, 1 / 5)


try:
    check_game(Uneven())
except ValueError as error:
    print(error)

# %% [markdown]
# What the check cannot find is rules that make sense but are not the ones you meant, such as a peek
# that shows nothing. So look at the infosets of the compiled game, too.
#
# ## Compiling and solving

# %%
tree = js.compile(Peek(price=0.5))
tree

# %%
result = js.solve(tree, "pcfr+", iterations=1000, progress=False)
result

# %% [markdown]
# ## Reading the policy
#
# Player 0 bets with a king, shows a queen, and bluffs with a jack one time in five. Facing a bet,
# player 1 folds a jack, calls with a king, and with a queen pays for a look two times in five.
# `Q|bet|peek J` reads: has a queen, saw a bet, peeked, saw a jack.

# %%
result.average

# %% [markdown]
# ## Is it right?
#
# The linear program gives the exact value, and this game is small enough for a formula. Player 1
# peeks just often enough that a bet with a jack is no better than a lost showdown, and player 0
# bets jacks just often enough that a peek is no better than a fold. For a price $p$ up to
# $\frac34$ this gives
#
# - player 0 bluffs with probability $\dfrac{p}{3-p}$,
# - player 1 peeks with probability $\dfrac{1}{3-p}$,
# - the game is worth $\dfrac{p}{6(3-p)}$ to player 0.
#
# Above $\frac34$ nobody peeks: player 0 bluffs one time in three, player 1 calls one time in three,
# and the value is $\frac1{18}$.

# %%
price = 0.5
print(f"formula         {price / (6 * (3 - price)):.6f}")
print(f"linear program  {js.solve_lp(tree).value:.6f}")
print(f"pcfr+           {result.values[0]:.6f} (exploitability {result.exploitability:.1e})")

# %% [markdown]
# ## A sweep in one call
#
# Games that differ only in numbers have trees of the same shape, and `solve_batch` solves them all
# at once.

# %%
prices = np.linspace(0.1, 1.2, 12).round(2).tolist()
trees = [js.compile(Peek(price)) for price in prices]
batch = js.solve_batch(trees, js.pcfr_plus(), iterations=1000)
batch

# %%
policies = [batch.policy(k) for k in range(len(prices))]
grid = np.linspace(0.05, 1.25, 200)
worth = grid <= 0.75
panels = {
    "bluffs with a jack": ([p["J"]["bet"] for p in policies], grid / (3 - grid), 1 / 3),
    "peeks with a queen": ([p["Q|bet"]["peek"] for p in policies], 1 / (3 - grid), 0),
    "value for player 0 (chips)": (batch.values[:, 0], grid / (6 * (3 - grid)), 1 / 18),
}
figure, axes = plt.subplots(1, 3, figsize=(9.5, 2.8), layout="constrained")
for ax, (title, (found, below, above)) in zip(axes, panels.items(), strict=True):
    ax.plot(grid, np.where(worth, below, above), color="grey", label="formula")
    ax.plot(prices, found, "o", markersize=4, label="pcfr+")
    ax.set(title=title, xlabel="price of a peek (chips)", ylim=(0, None))
axes[0].legend(frameon=False)
plt.show()

# %% [markdown]
# The cheaper the peek, the less player 0 bluffs. Player 1 gains from a peek that they often do not
# even take.
#
# ## Next
#
# Register the game in your own package, and `jaxsolve solve peek --out runs/peek` finds it: the
# page [Games](../docs/games.md#a-game-of-your-own) says how. The rules in `games/` are further
# examples; Kuhn poker is a short one.
