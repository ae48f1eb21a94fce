# %% [markdown]
# # Solve a game
#
# This notebook solves Leduc poker, a small poker game that research on imperfect information has
# used for twenty years: large enough for bluffs and traps, small enough to say exactly how good a
# strategy is. At the end you will have a near-perfect strategy, a
# picture of how solvers got there, and the exact value of the game to hold against it.
#
# Everything runs on a laptop's processor in well under a minute.

# %%
import tempfile
from pathlib import Path

import jaxsolve as js
from jaxsolve.plot import curve, strategy

# %% [markdown]
# ## The game
#
# Six cards: jacks, queens and kings of two suits. Both players pay one chip and get one card. They
# bet, one card is turned up on the table, they bet again. A pair with the card on the table wins,
# otherwise the higher card. `js.compile` turns the rules into a *public tree*: arrays on which
# everything else works. `jaxsolve games` on the command line lists the other games that are there.

# %%
tree = js.compile("leduc")
tree

# %% [markdown]
# An *infoset* is what a player knows at a decision: their card, the card on the table and the
# betting so far. Each player has 468 of them, and a strategy, here called a *policy*, says for each
# how often to fold, call and raise.
#
# ## Solving it
#
# One *iteration* of a solver plays every line of the game against itself once and moves both
# policies a little towards what would have been better. `progress=False` hides the progress bar,
# which has no place in a saved notebook.

# %%
result = js.solve(tree, "pcfr+", iterations=1000, progress=False)
result

# %% [markdown]
# *Exploitability* is how many chips a hand a perfect opponent, who knows the policy, would win
# against it, averaged over the two seats. It is 0 for a perfect policy and 2.37 for the one that
# plays every action equally often. The values are the chips that each seat wins per hand when both
# play the solution: acting first costs about 0.0856 of a chip.
#
# ## Reading the policy
#
# `result.average` is the average over the iterations, and the average is what the theory is about.
# Each row is an infoset, named after what the player saw: `Js|c|r` is a jack after a call and a
# raise.

# %%
policy = result.average
policy

# %%
{action: round(p, 3) for action, p in policy["Ks"].items()}

# %% [markdown]
# The infosets that play reaches most often, as a picture. With the best card, a king, player 0 does
# not always raise, and with the worst, a jack, not always call: an opponent who sees a raise cannot
# be sure.

# %%
strategy(policy, player=0, limit=16)

# %% [markdown]
# As a pandas table, with what each action is worth. Where a policy mixes two actions, both are
# worth almost the same: a player would not mix otherwise.

# %%
policy.table(values=True).head(8)

# %% [markdown]
# ## How good is it, exactly?
#
# Leduc is small enough for a linear program, whose solution is exact. It takes longer than the
# solver above, and much longer on larger games, but it is a value to trust.

# %%
exact = js.solve_lp(tree)
print(f"exact value for player 0   {exact.value:.6f}")
print(f"value of our policy        {result.values[0]:.6f}")
print(f"exploitability, exact      {js.exploitability(tree, exact.policy):.6f}")
print(f"exploitability, ours       {js.exploitability(tree, policy):.6f}")

# %% [markdown]
# ## Comparing solvers
#
# `jaxsolve solvers` lists the variants; a name may carry settings, as in `"dcfr(gamma=3)"`.

# %%
names = ["cfr", "cfr+", "dcfr", "pcfr+"]
results = [js.solve(tree, name, iterations=1000, progress=False) for name in names]
curve(results, title="Leduc poker", unit="chips")

# %% [markdown]
# ## Many settings at once
#
# DCFR weighs iteration $t$ by $t^\gamma$ in its average. Which $\gamma$ is best here? A batch is
# solved in one compiled call.

# %%
gammas = [0.0, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0]
batch = js.solve_batch(tree, [js.dcfr(gamma=g) for g in gammas], iterations=500)
{gamma: f"{e:.2g}" for gamma, e in zip(gammas, batch.exploitability[-1], strict=True)}

# %% [markdown]
# ## Saving and loading
#
# A policy is one small file, which only loads into the game that it belongs to.

# %%
folder = Path(tempfile.mkdtemp())
js.save_policy(policy, folder / "policy.npz")
again = js.load_policy(tree, folder / "policy.npz")
print(again["Ks"] == policy["Ks"])

# %%
try:
    js.load_policy(js.compile("kuhn"), folder / "policy.npz")
except ValueError as error:
    print(str(error).removeprefix(f"{folder}/"))

# %% [markdown]
# With `out=` a run also leaves a checkpoint. A run that was stopped, by a time limit, by Ctrl-C or
# by a power cut, goes on from there with `resume=True` and ends at the very same policy.

# %%
run = {"solver": "pcfr+", "iterations": 1000, "out": folder / "run", "progress": False}
print(js.solve(tree, **run, time_limit=1e-3).status)
resumed = js.solve(tree, **run, resume=True)
print(resumed.status, resumed.exploitability == result.exploitability)

# %% [markdown]
# The command line does all of this too:
#
# ```sh
# jaxsolve solve leduc --solver pcfr+ --iterations 1000 --out runs/leduc
# jaxsolve compare leduc --solvers cfr,cfr+,dcfr,pcfr+ --iterations 1000 --out runs/compare
# ```
#
# Next: [a game of your own](02_your_own_game.ipynb).
