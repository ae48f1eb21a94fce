# %% [markdown]
# # Subgames: why they cannot be solved alone, and what to do about it
#
# A chess program looks at the position and forgets how it came about. With hidden information that
# fails: what is best here depends on what else the opponent could have done. This notebook shows
# it on the smallest game there is, by hand, and then re-solves Leduc poker.

# %%
import jax
import numpy as np
from matplotlib import pyplot as plt

import games
import jaxsolve as js
from jaxsolve import search, subgame

jax.config.update("jax_enable_x64", True)

# %% [markdown]
# ## Coin Toss
#
# A coin is tossed, and only player 0 sees it. Player 0 sells it, for 0.5 if it shows heads and for
# -0.5 if tails, or plays. Then player 1 guesses the side, and player 0 gets 1 if the guess is wrong
# and -1 if it is right (Brown and Sandholm 2017).

# %%
tree = js.compile(games.load("coin_toss"))
exact = js.solve_lp(tree)
exact.policy.table(wide=True)

# %% [markdown]
# Player 1 must guess tails three times out of four. Nothing in the subgame says so: heads and tails
# look alike there. Cut it out, with both sides equally likely, and half-half is as good as any.

# %%
play = int(tree.info.form.rows[1].public[0])  # the public state after "play"
alone = subgame.cut(tree, play, [np.ones(2), np.ones(1)])
print("value of the subgame alone:", js.solve_lp(alone).value)
js.solve_lp(alone).policy.table(wide=True)

# %% [markdown]
# Suppose that player 1 has a *blueprint* in which player 0 plays with heads and sells with tails.
# "Then it is heads", concludes a solver that takes this for granted, and guesses heads always.


# %%
def guessing(heads, play_heads=0.5, play_tails=0.5):
    """A policy: how often player 0 plays with each side, and player 1 guesses heads."""
    first = [1 - play_heads, play_heads, 1 - play_tails, play_tails]
    return js.tree.policy_from_probabilities(tree, [np.array(first), np.array([heads, 1 - heads])])


blueprint = guessing(0.4, play_heads=1.0, play_tails=0.0)
unsafe = subgame.unsafe(tree, blueprint, play, player=1)
after = subgame.write(blueprint, unsafe, js.solve_lp(unsafe).policy)
for name, policy in (("blueprint", blueprint), ("unsafe", after)):
    worth = js.best_response(tree, policy, 0).value
    print(f"{name:10s} guesses heads {policy.probabilities(1)[0]:.2f}, loses {worth:.3f} at worst")

# %% [markdown]
# ## Alternative values
#
# What keeps a solution safe is to remember what player 0 has *instead*. If the opponent's choices
# are worth 0.5 with heads and -0.5 with tails, player 1 must see to it that playing is worth no
# more. The gadget `resolve` lets the opponent leave the subgame for that; `maxmargin` lets them
# choose the side to begin with and pays what exceeds the alternative, so that player 1 makes the
# smallest *margin* as large as possible.

# %%
for gadget in (subgame.resolve, subgame.maxmargin):
    safe = gadget(tree, blueprint, play, player=1, alternative=np.array([0.5, -0.5]))
    solved = js.solve_lp(safe)
    heads = solved.policy.probabilities(1)[0]
    margins = safe.info.margins(solved.policy)
    print(f"{gadget.__name__:10s} guesses heads {heads:.3f}, margins {margins.round(3)}")

# %% [markdown]
# By hand: if heads is guessed with probability $q$, playing is worth $1 - 2q$ with heads and
# $2q - 1$ with tails. Against alternatives $a$ and $b$ the margins are $a - (1 - 2q)$ and
# $b - (2q - 1)$: two lines that cross at $q = (2 + b - a) / 4$.

# %%
q = np.linspace(0, 1, 101)
figure, panels = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
for axes, (a, b) in zip(panels, ((0.5, -0.5), (0.0, 0.5)), strict=True):
    axes.plot(q, a - (1 - 2 * q), label="heads")
    axes.plot(q, b - (2 * q - 1), label="tails")
    axes.plot(
        q, np.minimum(a - (1 - 2 * q), b - (2 * q - 1)), "k", lw=3, alpha=0.3, label="smaller"
    )
    part = subgame.maxmargin(tree, blueprint, play, player=1, alternative=np.array([a, b]))
    axes.axvline(js.solve_lp(part).policy.probabilities(1)[0], color="k", ls=":")
    axes.set_title(f"alternatives {a} (heads), {b} (tails)")
    axes.set_xlabel("probability of guessing heads")
panels[0].set_ylabel("margin")
_ = panels[0].legend()

# %% [markdown]
# On the right, with alternatives of 0 and 1/2, the answer is (5/8, 3/8). If player 0 gave up 1/2 on
# the way to playing with tails, that *gift* can be held against them: *reach* raises the
# alternative of tails to 1, and the answer is (3/4, 1/4).

# %%
generous = js.compile(games.load("coin_toss(sell_heads=-1.0,sell_tails=1.0)"))
weak = js.tree.policy_from_probabilities(generous, [np.full(4, 0.5), np.array([0.75, 0.25])])
values = np.array([0.0, 0.5])
for reach in (None, "exact"):
    part = subgame.maxmargin(generous, weak, play, player=1, alternative=values, reach=reach)
    print(f"reach={reach}: {js.solve_lp(part).policy.probabilities(1).round(4)}")

# %% [markdown]
# ## Leduc
#
# A blueprint that is bad on purpose: the least exploitable one that plays every action of an
# infoset of $m$ actions with at least $0.25 / m$.

# %%
leduc = js.compile(games.load("leduc"))
value = js.solve_lp(leduc).value
blueprint = search.lp_blueprint(leduc, epsilon=0.25, player=0)
print(f"player 0 loses {value - blueprint.values[0]:.4f} chips a hand to a perfect opponent")

# %% [markdown]
# `levels` lists the public states in which player 0 acts, by how many such lie above. All subgames
# of a level make one tree of disjoint parts, which any solver solves in one run. Here is the second
# level (player 0 faces a raise, or the board card has been dealt) and the margins of the solution:
# how much worse off than against the blueprint the opponent is with each card in each subgame.

# %%
at = subgame.levels(leduc, player=0, knowledge="common")[1]
part = subgame.maxmargin(leduc, blueprint.policy, at)
part

# %%
[solution] = subgame.solve_subgames(part, "pcfr+", target=1e-4)
uniform = js.uniform_policy(part)
solved = js.tree.policy_from_probabilities(
    part, [solution.behaviour, uniform.probabilities(1).astype(float)]
)
margins = part.info.margins(solved)
order = np.argsort(margins)
figure, axes = plt.subplots(figsize=(9, 3))
axes.bar(np.arange(len(margins)), margins[order], width=1.0)
axes.axhline(0, color="k", lw=0.8)
axes.set_xlabel(
    f"the opponent's {len(margins)} infosets at the roots of {len(at)} subgames, sorted"
)
_ = axes.set_ylabel("margin (chips)")

# %% [markdown]
# No margin is negative (but for the solver's tolerance), and that is the whole proof of safety: the
# opponent is nowhere better off, so the strategy as a whole is not more exploitable.
#
# ## Re-solving a whole game
#
# `search.nested` does this on the way down the game, each time starting from what it has solved so
# far, composes one policy, and measures it exactly.

# %%
options = {"players": 0, "floor": blueprint.floors[0]}
results = {
    "maxmargin, common knowledge": search.nested(
        leduc, blueprint.policy, knowledge="common", **options
    ),
    "resolve, common knowledge": search.nested(
        leduc, blueprint.policy, knowledge="common", gadget="resolve", **options
    ),
    "maxmargin, 1-KLSS": search.nested(leduc, blueprint.policy, knowledge=1, **options),
}
print(f"{'blueprint':28s} {value - blueprint.values[0]:.4f} chips")
for name, result in results.items():
    print(f"{name:28s} {value - result.worst_case[0]:.4f} chips, {result.solved} subgames")

# %% [markdown]
# 1-KLSS is *knowledge-limited*: a subgame holds only what player 0 still thinks possible, and takes
# player 0's strategy elsewhere as it is (Zhang and Sandholm 2021). In a game without common
# knowledge, such as the following one, that is a handful of states instead of all of them. But
# everybody who corrects the same error alone overshoots together.

# %%
pennies = js.compile(games.load("matching_pennies"))
value = js.solve_lp(pennies).value
blueprint = search.lp_blueprint(pennies, epsilon=0.25, player=0)
print(f"blueprint             {value - blueprint.values[0]:.4f}")
for safety in ("everywhere", "write-back"):
    result = search.nested(pennies, blueprint.policy, players=0, safety=safety)
    print(f"1-KLSS, {safety:13s} {value - result.worst_case[0]:.4f}")
chosen = subgame.independent_set(pennies, 0, jax.random.key(0))
result = search.nested(
    pennies, blueprint.policy, players=0, safety="independent", infosets=chosen.tolist()
)
print(f"1-KLSS, {len(chosen)} of 50 infosets {value - result.worst_case[0]:.4f}")

# %% [markdown]
# Writing each solution back before the next is found never hurts (theorem 4 of the paper), nor do
# infosets that have no infostate of the opponent in common (theorem 5).
#
# `jaxsolve reproduce klss_table1` does this for all games of the paper's table.
