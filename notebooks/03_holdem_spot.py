# %% [markdown]
# # A hold'em spot
#
# A *spot* is a moment of a poker hand: cards on the table, chips in the middle, and for each player
# a *range*, the hands they may hold. This notebook solves the last betting round of one, looks at
# what every hand should do and what it is worth, and then asks what to do against an opponent who
# does not play perfectly.
#
# Two players: the first to act is *out of position* (oop), the other *in position* (ip).

# %%
from jaxsolve import holdem

spot = holdem.Spot.parse(
    {
        "board": "Td9d6hQc2s",
        "pot": 200,
        "stack": 900,
        "oop": "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
        "ip": "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
        "sizes": {"bet": ["50%", "100%", "a"], "raise": ["50%", "100%", "a"]},
    }
)
spot

# %% [markdown]
# `holdem.spot_tree` turns it into the same tensors that every other game has here, a public tree:
# rows are decisions, the last axis is hands. So every solver of the library works on it.

# %%
tree = holdem.spot_tree(spot)
tree.tree

# %% [markdown]
# ## Solving
#
# We stop when the average gain of a best response is 0.1% of the pot.

# %%
result = holdem.solve(tree, target="0.1%", progress=False)
oop, ip = result.ev
print(f"{result.status}: exploitability {100 * result.exploitability_pot:.3f}% of the pot")
print(f"of the 200 chips in the middle, oop expects {oop:.1f} and ip {ip:.1f}")

# %% [markdown]
# ## What to do with which hand
#
# Each cell is a kind of hand: pairs on the diagonal, suited hands above it. Colours are actions
# (`x` is a check, `b100` a bet of 100 chips, `a` all-in); how much of a cell is filled says how
# much of that kind of hand is in the range.

# %%
root = result.node()
root.plot()

# %% [markdown]
# The same as numbers: how often each action is taken, what it earns with the hands that take it,
# and what it would earn if the player went on with a best response.

# %%
root.summary()

# %% [markdown]
# And hand by hand. `EV` counts the pot: a hand that gives up is worth 0.

# %%
root.table().sort_values("EV x", ascending=False).head(8).round(3)

# %% [markdown]
# Decisions further down are named by the line of play that leads to them. After a check, the second
# player bets 100, and the first one has to answer:

# %%
answer = result.node("x b100")
answer.summary()

# %% [markdown]
# ## An opponent who makes a mistake
#
# Suppose the second player always checks behind, whatever they hold. `holdem.lock` makes that part
# of the game, and the solver finds what to do about it.

# %%
passive = holdem.lock(tree, "x", {"x": 1.0})
response = holdem.solve(passive, target="0.1%", progress=False)
print(f"oop expects {response.ev[0]:.1f} instead of {oop:.1f} chips")
response.node().summary()

# %% [markdown]
# A check is now a free showdown, worth far more than before, so fewer hands bet; those that do bet
# more, because a bet is the only way left to win a large pot.

# %%
response.node().plot()
