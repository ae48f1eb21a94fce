# %% [markdown]
# # Six players: who holds what
#
# No-limit hold'em at a table of six, 20 big blinds. All seats have one *blueprint*, trained here in
# seconds; the agent searches from the flop on (Pluribus, Brown and Sandholm 2019). This notebook
# plays one hand and shows, street by street, what each player may hold by what they did. It needs a
# C++ compiler.

# %%
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from IPython.display import display
from matplotlib import pyplot as plt

from jaxsolve import holdem
from jaxsolve.caches import cache_folder
from jaxsolve.holdem import play

# %% [markdown]
# ## The blueprint
#
# External sampling, as with any number of players: a pass deals six hands, one player tries every
# action, the others play one each.

# %%
buckets = holdem.build_abstraction((50, 50, 50), out=cache_folder() / "abstraction-50-50-50")
menu = holdem.BetMenu.parse(
    {
        "players": 6,
        "stack": "20bb",
        "preflop": {"sizes": [["100%"], ["a"]]},
        **{street: {"sizes": [["a"]]} for street in ("flop", "turn", "river")},
    }
)
trained = holdem.train_blueprint(
    menu,
    buckets,
    out=Path(tempfile.mkdtemp()) / "six",
    passes=2_000_000,
    threads=1,
    boards=0,
    progress=False,
)
blueprint = play.BlueprintAgent(*trained.strategy, name="blueprint")
trained

# %% [markdown]
# What positions win when all play the blueprint, and how often they open:

# %%
reports = holdem.position_reports(trained, hands=60_000)
pd.DataFrame([one._asdict() for one in reports]).round(2)

# %% [markdown]
# ## A hand
#
# Under the gun raises the pot, the cutoff and the big blind call, the others fold. The big blind
# and the raiser check the flop, the cutoff bets 900 (which is on no menu), the big blind folds.

# %%
names = ["small blind", "big blind", "under the gun", "hijack", "cutoff", "button"]
hand = play.new_hand(holdem.no_limit(6), menu.stack)
raise_to = 350
for move in (raise_to, holdem.FOLD, raise_to, holdem.FOLD, holdem.FOLD, raise_to):
    hand = hand.act(move)
flop = hand.deal(holdem.parse_cards("Td9d6h"))
bet = flop.act(flop.can.call)
bet = bet.act(bet.can.call)
bet = bet.act(raise_to + 900)
folded = bet.act(holdem.FOLD)
print(folded.betting, "; to act:", names[folded.actor])

# %% [markdown]
# ## The agent under the gun
#
# It is asked at each of its decisions. On the flop three players are left: the search goes to the
# end of the street, where everybody chooses among four continuations of the blueprint, and the bet
# of 900 is added when it comes. What the agent did before on the street stays as it was.

# %%
agent = play.SearchAgent(
    blueprint, first=1, passes={1: 60_000}, buckets=buckets, iterations={2: 60, 3: 200}
)
seat = 2
state = agent.begin(next(iter(hand.path())), seat, number=0, key=1)
tables = []
for here in [x for x in folded.path() if x.actor == seat]:
    told, state = agent.policy(state, here)
    mine = told.reach @ told.policy / told.reach.sum()
    row = {
        "street": "before the flop" if not here.board else "flop",
        "faces": here.state.bet - here.state.spent[seat],
    }
    row |= {"fold" if t < 0 else str(t): p for t, p in zip(told.totals, mine, strict=True)}
    tables.append(row)
first = ["street", "faces", "fold"]
table = pd.DataFrame(tables)
sizes = sorted((c for c in table if c not in first), key=int)
table[first + sizes].round(2)

# %% [markdown]
# ## Who holds what
#
# Weights of hands, from how likely each player would have done what they did with them: before the
# flop by the blueprint, whose seconds of training show, on the flop by the search. The agent calls.

# %%
turn = folded.act(folded.can.call).deal(holdem.parse_cards("Qc"))
at_flop = state.street.ranges
told, state = agent.policy(state, turn)
at_turn = state.street.ranges


def shares(ranges, board, seats):
    """Returns how much of each kind of hand is in the ranges of some seats."""
    ranks = holdem.HANDS // 4
    suits = holdem.HANDS % 4
    kinds = {
        "pairs": ranks[:, 0] == ranks[:, 1],
        "suited": suits[:, 0] == suits[:, 1],
        "two of ten and more": (ranks >= 8).all(1),
        "with a card of the board's ranks": np.isin(ranks, [c // 4 for c in board]).any(1),
    }
    live = np.where(holdem.possible(board), 1.0, 0.0)
    found = {"all hands": {k: (live * v).sum() / live.sum() for k, v in kinds.items()}}
    for i in seats:
        found[names[i]] = {k: ranges[i] @ v / ranges[i].sum() for k, v in kinds.items()}
    return pd.DataFrame(found).T


display(shares(at_flop, flop.board, (1, 2, 4)).style.format("{:.0%}").set_caption("flop"))
display(shares(at_turn, turn.board, (2, 4)).style.format("{:.0%}").set_caption("turn"))

# %% [markdown]
# Each seat by street, lighter to darker; the 13 x 13 grids have suited hands above the diagonal.

# %%
figure, axes = plt.subplots(2, 3, figsize=(9.5, 6.2), layout="constrained")
for row, (ranges, board, title) in enumerate(
    ((at_flop, flop.board, "flop"), (at_turn, turn.board, "turn"))
):
    for column, i in enumerate((1, 2, 4)):
        axis = axes[row, column]
        if row and i == 1:
            axis.axis("off")
            axis.set_title(f"{title}: {names[i]} folded", fontsize=10)
            continue
        axis.imshow(holdem.cell_means(ranges[i], board), vmin=0, vmax=1, cmap="Greens")
        axis.set_xticks(range(13), "AKQJT98765432", fontsize=7)
        axis.set_yticks(range(13), "AKQJT98765432", fontsize=7)
        axis.set_title(f"{title}: {names[i]}", fontsize=10)
plt.show()

# %% [markdown]
# ## The turn
#
# Two players are left, so the rest of the hand is solved to its end, with the folded chips in the
# pot.

# %%
state.street.solved.result.node("")

# %% [markdown]
# `jaxsolve play holdem --players 6 --agent pluribus:DIR` is a seat at such a table;
# `jaxsolve reproduce pluribus_six` measures what search adds.
