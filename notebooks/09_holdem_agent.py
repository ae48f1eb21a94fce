# %% [markdown]
# # A hold'em agent that searches: one hand, step by step
#
# Heads-up no-limit hold'em, 20 big blinds. The agent has a *blueprint*, a rough strategy of the
# whole game, and makes up its own mind in every hand: on the flop it searches to the end of the
# street, where the opponent chooses among continuations of the blueprint (Modicum, Brown, Sandholm
# and Amos 2018); on turn and river it searches to the end of the hand. It needs a C++ compiler.

# %%
import tempfile
from pathlib import Path

import numpy as np
from IPython.display import display

from jaxsolve import holdem
from jaxsolve.caches import cache_folder
from jaxsolve.holdem import play

# %% [markdown]
# ## The blueprint
#
# Hands that are alike share one of 50 buckets on each street. Seconds of training are enough here;
# `jaxsolve holdem blueprint` makes better ones.

# %%
buckets = holdem.build_abstraction((50, 50, 50), out=cache_folder() / "abstraction-50-50-50")
menu = holdem.BetMenu.parse(
    {
        "players": 2,
        "stack": "20bb",
        "preflop": {"sizes": [["100%", "a"], ["100%", "a"]]},
        **{street: {"sizes": [["100%", "a"], ["a"]]} for street in ("flop", "turn", "river")},
    }
)
trained = holdem.train_blueprint(
    menu,
    buckets,
    out=Path(tempfile.mkdtemp()) / "blueprint",
    passes=600,
    threads=1,
    boards=0,
    progress=False,
)
blueprint = play.BlueprintAgent(*trained.strategy, name="blueprint")
trained

# %% [markdown]
# ## The agent
#
# `first=1` is the flop. `policy` takes a public hand and says what the agent does with *every* hand
# that it may hold, and how likely it is to have come here with it.

# %%
agent = play.SearchAgent(
    blueprint,
    menu={"bet": ["50%", "100%"], "raise": ["a"]},
    first=1,
    passes={1: 60},
    iterations={2: 60, 3: 200},
)
hand = play.new_hand(holdem.no_limit(), menu.stack)
state = agent.begin(hand, 0, number=0, key=1)


def ask(state, hand):
    """Returns the agent's answer and state; prints what it does with its whole range."""
    told, state = agent.policy(state, hand)
    mine = told.reach @ told.policy / told.reach.sum()
    words = [f"{'fold' if t < 0 else t}: {p:.0%}" for t, p in zip(told.totals, mine, strict=True)]
    print(", ".join(words))
    return told, state


# %% [markdown]
# Seat 0 is the big blind here and acts first after the flop. The opponent calls, the agent checks.

# %%
hand = hand.act(hand.can.call)
told, state = ask(state, hand)
hand = hand.act(hand.can.call).deal(holdem.parse_cards("Td9d6h"))

# %% [markdown]
# ## The flop
#
# The agent looks to the end of the flop. At each end the opponent picks the blueprint or one of
# three changes of it: more folds, more calls, more raises. So a leaf has four values for each of
# the opponent's hands, and the agent's play has to be good against the best of them.

# %%
told, state = ask(state, hand)
display(
    holdem.range_strategy(
        {str(t): told.policy[:, k] for k, t in enumerate(told.totals)},
        told.reach / told.reach.max(),
        board=hand.board,
        title="the agent on Td9d6h (chips over the whole hand)",
    )
)

# %% [markdown]
# ## A bet that nobody expected
#
# The agent checks and the opponent bets 137, a size that is on no menu. The agent adds it to the
# street and searches again from the flop on.

# %%
hand = hand.act(hand.can.call).act(237)
told, state = ask(state, hand)
print("totals:", told.totals)
hand = hand.act(hand.can.call).deal(holdem.parse_cards("Qc"))

# %% [markdown]
# ## The turn: what it believes, and what it has promised
#
# Both ranges follow from the search of the flop. The opponent's hands were also promised something
# there: what their best continuations win. From now on no hand of the opponent may be worth more
# than that (a *safe root*), whatever range the opponent really has.

# %%
told, state = ask(state, hand)
theirs = state.street.ranges[1]
display(holdem.range_grid(theirs, board=hand.board, title="what the opponent may hold"))
promised = state.street.promised
best = np.argsort(np.where(holdem.possible(hand.board), promised, -np.inf))[::-1]
for index in [*best[:3], *best[500:503]]:
    print(f"{holdem.hand_name(index)} was promised {promised[index]:.0f} chips; the pot is 474")

# %% [markdown]
# The turn is solved to the end of the hand, with every river. A report has values in chips, the pot
# included.

# %%
report = state.street.solved.result.node("")
report

# %% [markdown]
# ## The river
#
# Both check the turn. Values of the turn's solution are the promises here, plus what the opponent's
# hands gave up by their checks.

# %%
hand = hand.act(hand.can.call)
hand = hand.act(hand.can.call).deal(holdem.parse_cards("2s"))
told, state = ask(state, hand)
display(
    holdem.range_strategy(
        {str(t): told.policy[:, k] for k, t in enumerate(told.totals)},
        told.reach / told.reach.max(),
        board=hand.board,
        title="the agent on Td9d6hQc2s",
    )
)

# %% [markdown]
# `jaxsolve play holdem --agent modicum:DIR` is a game against it, `jaxsolve holdem match` plays
# agents against each other, and `jaxsolve reproduce modicum_hunl` measures what search adds.
