# %% [markdown]
# # Value networks: searching a part of the game
#
# With hidden cards a position has no value of its own. What it is worth depends on what each
# player may hold: on the *beliefs*. A value network maps a public state and both beliefs to a
# value for every hand. With one, a search can stop at the end of a betting round, and with what
# the search promised the opponent it can go on safely later. This notebook trains a small network
# on Leduc poker, looks at it, and plays with it.

# %%
import jax
import numpy as np
from matplotlib import pyplot as plt

import games
import jaxsolve as js
from jaxsolve import agents, evaluate, learn, nets, public, search

# %% [markdown]
# ## The public nodes of Leduc
#
# Only cards are hidden, so the game is a small public tree times the hands. Many public states
# begin the same subgame: after the first round only the pot and the board card matter.

# %%
rules = games.load("leduc")
game = public.public_game(rules)
second_round = game.classes_after_chance()
print(game)
print(len(second_round), "classes of second rounds: 3 pots, 6 board cards")

# %% [markdown]
# ## Data: random beliefs, solved
#
# Each batch draws beliefs, solves the subgames with CFR, and updates the network; all of it is one
# compiled program. Adam, Huber loss, a ring buffer of examples on the device.

# %%
subgames = search.subgames(game, public.no_limit, classes=second_round)
source = learn.random_beliefs(
    game,
    subgames,
    js.pcfr_plus(),
    stages=[second_round],
    steps=1,
    iterations=60,
    batch=128,
)
net = nets.make_net(game, nets.ValueNetwork(width=96, depth=2), jax.random.key(0))
held = learn.held_out(
    game, js.pcfr_plus(), classes=second_round, count=8, iterations=500, key=jax.random.key(1)
)


def validate(net):
    return {"error": float(learn.errors(net, held).weighted)}


plan = learn.Plan(steps=300, updates=8, minibatch=256, buffer=1 << 15, learning_rate=2e-3)
trained = learn.train(
    net, source, plan, log_every=20, validate=validate, time_limit=60, progress=False
)
print(f"mean error {trained.curve[-1]['error']:.2f} chips")

# %%
figure, axes = plt.subplots(figsize=(5, 3))
axes.plot([r["examples"] for r in trained.curve], [r["error"] for r in trained.curve], "o-")
axes.set(xlabel="beliefs solved", ylabel="error on held-out beliefs (chips)", ylim=(0, None))


# %% [markdown]
# ## Predicted and exact values
#
# One point for each hand of a held-out belief, in chips. Hands that the belief leaves out are
# small: what they are worth is not fixed by the equilibrium.

# %%
scale = game.num_hands**2
exact = np.asarray(held.values) * scale
predicted = np.asarray(trained.net(held.state, held.beliefs)) * scale
size = 60 * np.asarray(held.beliefs)
possible = np.asarray(held.state.possible)
figure, axes = plt.subplots(figsize=(4.5, 4.5))
axes.scatter(exact[possible], predicted[possible], s=size[possible], alpha=0.4)
low, high = exact.min(), exact.max()
axes.plot([low, high], [low, high], color="gray", lw=1)
axes.set(xlabel="exact value", ylabel="value of the network", aspect="equal")


# %% [markdown]
# ## The exploitability of the search
#
# Searching at every public state gives one policy, whose exploitability is exact (1 chip is 1000
# mbb). The experiment `jaxsolve reproduce value_net_leduc` trains longer, and compares with leaves
# that are solved at every query.

# %%
tree = js.compile(rules, layout="hands")
table = public.public_table(game)
how = search.fixed_resolver(table, public.round_limit, js.pcfr_plus(), iterations=50)
for name, leaf in {"network": trained.net, "untrained network": net}.items():
    policy = table.policy_of(tree, search.resolve_game(how, leaf))
    print(f"{name:20s} {1000 * js.exploitability(tree, policy):6.0f} mbb/h")

# %% [markdown]
# ## Playing against it
#
# An agent is two functions, `init` and `act`; matches are vmapped. Here the policy of the search
# plays uniform random moves, with the cards of every match dealt again to the other side. AIVAT
# takes most of the luck out of the same matches. (`jaxsolve play leduc` plays in the terminal.)

# %%
whole = js.compile(rules)
policy = table.policy_of(whole, search.resolve_game(how, trained.net))
players = [agents.fixed(policy), agents.uniform()]
arena = evaluate.arena(whole)
match = evaluate.play_matches(arena, players, 2000, jax.random.key(2))
print("chips per match:        ", evaluate.score(match))
value = [evaluate.state_values(policy, i) for i in range(2)]
estimate = np.stack([evaluate.aivat(policy, value[i], player=i) for i in range(2)])
last = np.asarray(arena.states(match.actions)[:, -1])
seat = np.arange(len(last)) % 2  # of the first agent
adjusted = evaluate.score(match, utility=estimate[seat, last])
print("the same, luck taken out:", adjusted)

# %% [markdown]
# A move of yours: hold the king in the first round, and ask the agent what it would do there.

# %%
for name in ("K♠", "K♠|r", "J♠", "J♠|r"):
    for player in range(2):
        if name in whole.info.labels[player]:
            print(player, name, {a: round(p, 2) for a, p in policy[name].items()})
