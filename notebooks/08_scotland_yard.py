# %% [markdown]
# # Scotland Yard in London
#
# Mr X hides among 199 stations and five detectives hunt him. They see which ticket he uses, and
# where he is after some of his moves. Nobody can list this game, so *Student of Games* (Schmid et
# al. 2023) grows its trees from the rules. Here both sides search, and the belief about Mr X's
# station is drawn as the game goes on.

# %%
import jax
import jax.numpy as jnp
import numpy as np
from IPython.display import HTML, display
from matplotlib import pyplot as plt

import games
import jaxsolve as js
from jaxsolve import agents, evaluate, plot, public, search

game = games.load("scotland_yard(board=london,rounds=5,reveals=[3],doubles=0)")
model, root = public.hidden_piece_model(game)
model.hands  # private states: Mr X's station, and nothing that detectives hide

# %% [markdown]
# ## A game
#
# Five rounds, and Mr X shows himself after his third move. Leaves are worth nothing here: there is
# no network, so that the search sees no farther than its tree. `jaxsolve reproduce
# sog_scotland_yard` trains one and measures it against another program.
#
# `log` gets every decision with its search.

# %%
nothing = jax.tree_util.Partial(lambda state, beliefs: jnp.zeros_like(beliefs))
resolver = search.growing_resolver(
    model, js.cfr_plus().simultaneous(), simulations=60, root=root, skip_solved=True
)
thoughts = []
sog = agents.resolving(resolver, nothing, log=thoughts.append, name="sog")
arena = evaluate.rules_arena(game, max_moves=40)
match = evaluate.play_matches(arena, [sog, sog], 1, jax.random.key(3), mirror=False)
moves = [
    (int(who), int(what))
    for who, what in zip(match.actors[0], match.actions[0], strict=True)
    if what >= 0
]
print(", ".join(game.action_name(*move) for move in moves))
print("Mr X is", "free" if match.utility[0, 0] > 0 else "caught")

# %% [markdown]
# ## Step by step
#
# The map after each move of Mr X. Discs show the belief of somebody who saw all that is public and
# knows how the search plays; blue squares are detectives, the black ring is where Mr X really is.
# Places on the map follow from the connections, not from the printed board. Yellow lines are taxis,
# green buses, red the underground, and dashes ferries.

# %%
step = jax.jit(game.step)
state, states = game.init(), []
for _, action in moves:
    state = step(state, jnp.int32(action))
    states.append(state)
pictures = []
for thought, state in zip(thoughts, states[1:], strict=True):
    if thought.player != 0:
        continue
    number = int(state.moves)
    shown = number in game.map.reveals
    belief = np.asarray(search.beliefs_below(model, thought.found, thought.at, thought.child)[0])
    if shown:
        belief = np.eye(len(belief))[int(state.stations[0])]
    count = np.count_nonzero(belief)
    title = f"move {number}: {'he shows himself' if shown else f'{count} stations possible'}"
    pictures.append(
        f"<div style='width:48%;margin:1%'>{title}{game.svg(state, belief=belief)}</div>"
    )
display(HTML(f"<div style='display:flex;flex-wrap:wrap'>{''.join(pictures)}</div>"))

# %% [markdown]
# ## What a detective's search looks like
#
# The last detective of the second round: dots are opened public states, larger where more
# simulations went on, and rings are leaves.

# %%
detectives = [thought for thought in thoughts if thought.player == 1]
last = detectives[2 * len(game.map.detectives) - 1]
display(plot.growing_tree(last.found.growth))
print(f"{search.depths(last.found.growth).max()} decisions deep")

# %% [markdown]
# ## How much is known
#
# The belief is narrow after a reveal. Its entropy says how many stations are in question: e to its
# power is 13 for 13 equally likely ones.

# %%
spread = []
for thought in thoughts:
    belief = np.asarray(search.beliefs_at(model, thought.found, thought.at)[0])
    belief = belief[belief > 0]
    spread.append(float(np.exp(-(belief * np.log(belief)).sum())))
figure, axes = plt.subplots(figsize=(6, 3))
axes.semilogy(spread, "o-", markersize=4)
for k, thought in enumerate(thoughts):
    if thought.player == 0:
        axes.axvline(k, color="lightgray", zorder=0)
axes.set(xlabel="decisions (gray lines: of Mr X)", ylabel="stations in question")
plt.show()
