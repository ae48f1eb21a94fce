# %% [markdown]
# # Dark chess: a game step by step
#
# Chess in the fog of war: a player sees their own squares and where their own pieces can go, and
# wins by taking the king. White is `agents.obscuro`: it follows every position that fits what it
# saw, grows a tree from these and from what is left of its last tree, and re-solves it (Zhang and
# Sandholm 2025). Black searches 64 of the positions that it holds possible two plies deep, as if
# each were seen.

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt
import numpy as np
from IPython.display import HTML, display

import games
from jaxsolve import agents, evaluate
from jaxsolve.search.knowledge import Effort, positions_of

game = games.load("dark_chess(plies=24)")
kept = []  # what White knew at each move, and what its search found

white = agents.obscuro(
    game,
    effort=Effort(seconds=None, rounds=8, iterations=30),
    positions=64,
    capacity=1 << 16,
    log=lambda mind, found: kept.append((mind.infoset, found)),
)
black = agents.determinized(game, depth=2)
match = evaluate.play_matches(
    evaluate.rules_arena(game), [white, black], 1, jax.random.key(7), mirror=False
)
actions = [int(a) for a in match.actions[0] if a >= 0]
print(game.pgn(actions, ("obscuro", "depth 2")))

# %% [markdown]
# ## What each side sees
#
# The board after White's sixth move: all of it, and through the eyes of both.

# %%
move = 6
step = jax.jit(game.step)
state = game.init()
for action in actions[: 2 * move]:
    state = step(state, jnp.int32(action))
shown = "".join(
    f"<div style='width:31%;margin:1%'>{title}{game.svg(state, player=player)}</div>"
    for title, player in (("the board", None), ("White sees", 0), ("Black sees", 1))
)
display(HTML(f"<div style='display:flex'>{shown}</div>"))

# %% [markdown]
# ## What White believes
#
# The list of positions that fit is exact until it outgrows a cap. All of them are taken as equally
# likely in this picture of where Black's king may be.

# %%
infoset, found = kept[move]
king = np.asarray(infoset.states.pieces)[: infoset.num_states, 1, 5]  # two words of 32 squares
squares = (king[:, :, None] >> np.arange(32, dtype=np.uint32) & 1).reshape(-1, 8, 8)
counts = [each.num_states for each, _ in kept]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
image = left.imshow(squares.mean(0), origin="lower", cmap="Reds", vmin=0)
left.set(xticks=range(8), xticklabels=list("abcdefgh"), yticks=range(8), yticklabels=range(1, 9))
left.set_title(f"Black's king, move {move + 1}, {infoset.num_states:,} positions")
figure.colorbar(image, ax=left, label="share of the positions")
right.semilogy(range(1, len(counts) + 1), counts, "o-")
right.set(xlabel="White's move", ylabel="positions that fit", title="The infoset")
plt.show()

# %% [markdown]
# ## The tree
#
# Nodes are positions; those that a player cannot tell apart are one infoset. The tree grows where
# one player explores and the other plays as it does now, so it is deep where play goes.

# %%
nodes = positions_of(found.before.tree)
sizes = [len(level) for level in nodes.levels]
order = np.argsort(-found.policy)[:8]

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.bar(range(len(sizes)), sizes)
left.set(xlabel="plies from the root", ylabel="nodes", yscale="log")
left.set_title(f"{found.nodes:,} nodes, {found.infosets:,} infosets")
names = [game.action_name(0, int(found.actions[k])) for k in order]
right.bar(names, found.policy[order], label="last strategy")
right.plot(names, found.average[order], "kx", label="average")
right.set(ylabel="probability", title=f"White's strategy, worth {found.value:+.2f}")
right.tick_params(axis="x", rotation=45)
right.legend()
plt.show()

# %% [markdown]
# Where no infostate of Black gains by the search, White mixes up to three actions; elsewhere it
# plays the best one.

# %%
print(
    f"no infostate of Black gains: {found.safe}; White played "
    f"{game.action_name(0, actions[2 * move])}"
)
