# %% [markdown]
# # Searching to a depth limit: why one value per state is not enough
#
# A chess program looks some moves ahead and puts a number on what it finds there. With hidden
# information that fails even if the numbers are exact, because what a state is worth depends on how
# the opponent goes on from it, and the opponent adapts. The cure of Brown, Sandholm and Amos (2018)
# is to let the opponent choose, at the limit, among a few ways to go on.

# %%
import jax
import numpy as np
from matplotlib import pyplot as plt

import games
import jaxsolve as js
from jaxsolve import search
from jaxsolve.values import after_actions, after_round, biased, continuations, extend, poker_class

jax.config.update("jax_enable_x64", True)

# %% [markdown]
# ## Rock-paper-scissors+
#
# Rounds with scissors count double. Player 0 chooses unseen, then player 1. In equilibrium both
# play rock and paper 0.4, scissors 0.2, and the value is 0.

# %%
tree = js.compile(games.load("rps_plus"))
blueprint = js.solve_lp(tree).policy
limit = after_actions(tree, 1)
naive = continuations(tree, limit, [blueprint])
print("values after rock, paper, scissors:", naive.info.values[..., 0].ravel().round(6))

# %% [markdown]
# Exact values, and useless: all actions look alike. Now player 1 chooses, at the limit and without
# having seen the action, which pure strategy to go on with. The choice is one more decision level
# of an ordinary tree, so every solver takes it.

# %%
always = [
    js.tree.policy_from_probabilities(tree, [np.array([0.4, 0.4, 0.2]), pure]) for pure in np.eye(3)
]
for policies in ([blueprint], always[:2], always):
    limited = continuations(tree, limit, policies)
    found = extend(limited, js.solve_lp(limited).policy, blueprint)
    loses = float(js.best_response(tree, found, 1).value)
    print(len(policies), "value(s):", found.probabilities(0).round(3), f"loses {loses:.3f}")

# %% [markdown]
# Two values are worse than one here: the search takes care of rock and paper, and forgets scissors.
# Three are enough. `search.self_generated` finds continuations by itself: each is a best response
# to the search with those before it.

# %%
for count in (1, 2, 3, 4):
    policies = search.self_generated(tree, limit, blueprint, count=count, solver="lp", tremble=0)
    limited = continuations(tree, limit, policies)
    found = extend(limited, js.solve_lp(limited).policy, blueprint)
    loses = float(js.best_response(tree, found, 1).value)
    print(count, "generated value(s):", found.probabilities(0).round(3), f"loses {loses:.3f}")

# %% [markdown]
# ## A betting round of no-limit Leduc
#
# The limit is the end of the first round. Player 0 searches to there; below it everybody is assumed
# to go on with the blueprint, but for player 1's choice. Continuations are biased towards one kind
# of action, or generated.

# %%
tree = js.compile(games.load("nolimit_leduc(ranks=4,suits=1,stack=5,sizes=[1.0])"))
blueprint = js.solve_lp(tree).policy
value = js.solve_lp(tree).value
limit = after_round(tree)
print(limit.num_leaves, "states at the end of the first round")
kinds = {
    "biased": biased(tree, blueprint, classes=poker_class),
    "generated": search.self_generated(tree, limit, blueprint, count=6, solver="lp"),
}
fig, ax = plt.subplots(figsize=(6, 3))
for name, policies in kinds.items():
    gains = []
    for count in range(1, len(policies) + 1):
        limited = continuations(tree, limit, policies[:count])
        found = extend(limited, js.solve_lp(limited).policy, blueprint)
        gains.append(float(js.best_response(tree, found, 1).value) + value)
    ax.plot(range(1, len(policies) + 1), gains, "o-", label=name)
ax.set(xlabel="values per state", ylabel="player 0 loses (chips)")
_ = ax.legend()

# %% [markdown]
# ## Every decision a search
#
# Nested solving searches anew after each action of the opponent, with beliefs from the last search,
# and composes one policy. Its exploitability is exact. Here searches do not know all-in at all,
# until somebody goes all-in.

# %%
policies = kinds["generated"]
menu = ("fold", "call", "bet 1")
for gadget in ("unsafe", "maxmargin"):
    settings = search.DepthSearch(policies, gadget=gadget, menu=menu)
    result = search.depth_limited(tree, settings, players=0)
    lost = result.blueprint_worst_case[0] - result.worst_case[0]
    print(f"{gadget:10s} {result.searches} searches, player 0 loses {lost:.3f} chips at worst")

# %% [markdown]
# `experiments/modicum_figure1` answers a bet that the abstraction lacks: `jaxsolve reproduce
# modicum_figure1 --quick`.
