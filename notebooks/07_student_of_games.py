# %% [markdown]
# # Student of Games: growing trees and sound self-play
#
# A search need not look equally far everywhere. *Growing-tree CFR* (Schmid et al. 2023) updates
# regrets on a small tree, and then opens the public states that simulations come to; a network says
# what the rest is worth. *Sound self-play* trains that network on what such searches ask. This
# notebook does both on a small game of hide and seek.

# %%
import jax
import jax.numpy as jnp
import numpy as np
from IPython.display import display
from matplotlib import pyplot as plt

import games
import jaxsolve as js
from jaxsolve import evaluate, learn, nets, plot, public, search

# %% [markdown]
# ## The map "glasses"
#
# Mr X starts at station 6 and two detectives at 1 and 11. Everybody sees the detectives; where Mr X
# goes they do not see. Five rounds, and he has got away: +1. Caught: -1.
#
# Where Mr X stands is his *private state*. The ways on which he came there make no difference to
# what follows, so they are merged: their reach is summed.

# %%
rules = games.load("scotland_yard")
table = public.public_table(rules)
table

# %% [markdown]
# ## A tree that grows
#
# Leaves are worth nothing here: no network yet. Dots are opened public states, larger where more
# simulations went on; rings are leaves. `skip_solved` simulations pass by what is open to its ends.

# %%
nothing = jax.tree_util.Partial(lambda public, beliefs: jnp.zeros_like(beliefs))
even = jnp.ones((2, table.num_hands))
grow = jax.jit(search.gt_cfr)
for simulations in (10, 40, 160):
    options = search.growing_search(
        table, js.cfr_plus(4.0), simulations=simulations, capacity=200, skip_solved=True
    )
    found = grow(options, nothing, jnp.int32(0), even, jax.random.key(0))
    display(plot.growing_tree(found.growth, title=f"{simulations} simulations"))

# %% [markdown]
# ## Sound self-play
#
# Episodes are played by searches on both sides. What the searches ask the network goes into a
# queue; *solvers* search from those beliefs, and what they find is what the network learns.
# Searches, queue, replay and updates are one compiled program.

# %%
chosen = learn.preset("glasses")
resolver = search.growing_resolver(table, js.cfr_plus(4.0), simulations=20, skip_solved=True)
source = learn.sound_self_play(resolver, chosen.self_play(episodes=16, solvers=48, fill=True))
plan = chosen.plan(steps=400, batch=source.batch)
module = chosen.network(actions=table.transitions.num_actions, width=96)
untrained = nets.make_net(table, module, jax.random.key(0))
trained = learn.train(untrained, source, plan, log_every=10, time_limit=75, progress=False)
last = trained.curve[-1]
print(f"{last['examples']:.0f} examples, {last['searches_per_second']:.0f} searches a second")

# %%
figure, axes = plt.subplots(figsize=(5, 3))
axes.plot([r["examples"] for r in trained.curve], [r["loss"] for r in trained.curve])
axes.set(xlabel="examples", ylabel="loss", ylim=(0, None))

# %% [markdown]
# ## Exploitability by simulations
#
# A search at every public state, each from what the one before promised, is one policy, and its
# exploitability is exact. The dashed line is figure 3 of the paper, whose network trained far
# longer. `jaxsolve reproduce sog_figure3_glasses` measures with more seeds and more simulations.

# %%
counts = (10, 33, 100)
found = {"untrained network": untrained, "trained network": trained.net}
figure, axes = plt.subplots(figsize=(5, 3.5))
for name, net in found.items():
    gaps = []
    for simulations in counts:
        resolver = search.growing_resolver(
            table, js.cfr_plus(4.0), simulations=simulations, capacity=120, skip_solved=True
        )
        prior = nets.policy_prior(net)
        policy = search.resolve_game(resolver, net, jax.random.key(1), prior=prior)
        gaps.append(evaluate.respond(table, policy).exploitability)
    axes.plot(counts, gaps, "o-", label=name)
    print(name, np.round(gaps, 3))
axes.plot((33, 100), (0.131, 0.051), "--", color="gray", label="SoG(s, 1), figure 3")
axes.set(xscale="log", yscale="log", xlabel="simulations", ylabel="exploitability")
axes.legend()
