"""Named settings of sound self-play.

Source: Schmid et al. 2023 (Student of Games), supplement, tables S1 and S2, for chess, Go, Scotland
Yard and hold'em. The paper does not give those of its small games: `generic`, `leduc` and `glasses`
are ours.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from jaxsolve.learn._plan import Plan
from jaxsolve.learn.sound import SelfPlaySettings
from jaxsolve.nets import ValueNetwork


@dataclasses.dataclass(frozen=True)
class Preset:
    """Settings of training for one game, in the order of table S2.

    Attributes:
        minibatch: examples of an update.
        optimiser: "sgd" or "adam".
        learning_rate: at the start.
        decay_updates: updates in which it falls by `decay`, smoothly.
        decay: see there; None for a cosine over the run.
        policy_weight: of the policies' loss, a mean over infostates here and a sum in the paper.
        value_weight: of the values' loss.
        buffer: examples kept.
        reuse: updates that an example is part of at most, in the mean.
        p_td1: probability that an outcome becomes a target.
        q_search: queries of an episode's search that are kept, in the mean.
        q_recursive: queries of a solver's search.
        epsilon: share of uniform play.
        resign_below: value below which a player resigns; None for never.
        no_resign: least share of episodes without resigning.
        greedy_after: moves after which the likeliest action is played; None for never.
        max_moves: of an episode; None for any number.
        temperature: of the prior's softmax.
        body: of the network, "mlp" or "resnet".
        depth: its layers, where the paper gives them.
        width: its units of a layer, likewise.
        source: where the numbers come from.
    """

    minibatch: int
    optimiser: str
    learning_rate: float
    decay_updates: float
    decay: float | None
    policy_weight: float
    value_weight: float
    buffer: int
    reuse: float
    p_td1: float
    q_search: float
    q_recursive: float
    epsilon: float
    resign_below: float | None
    no_resign: float | None
    greedy_after: int | None
    max_moves: int | None
    temperature: float
    body: str
    depth: int | None
    width: int | None
    source: str

    def self_play(self, **options: Any) -> SelfPlaySettings:
        """Returns the settings of episodes and queries.

        Args:
            **options: other settings, by name.
        """
        shared = {f.name for f in dataclasses.fields(SelfPlaySettings)}
        own = {k: v for k, v in dataclasses.asdict(self).items() if k in shared}
        return SelfPlaySettings(**(own | options))

    def plan(self, *, steps: int, batch: int, **options: Any) -> Plan:
        """Returns the plan of a run, with as many updates as `reuse` allows.

        Args:
            steps: batches of data.
            batch: examples in each, `Source.batch`.
            **options: other settings, by name.

        Raises:
            ValueError: a batch is so small that not every step can have an update.
        """
        shared = {f.name for f in dataclasses.fields(Plan)}
        own = {k: v for k, v in dataclasses.asdict(self).items() if k in shared} | options
        if "updates" not in own:
            minibatch, reuse = own["minibatch"], own["reuse"]
            own["updates"] = math.floor(reuse * batch / minibatch)
            if own["updates"] < 1:
                raise ValueError(
                    f"an update takes {minibatch} examples, and an example is used {reuse} times; "
                    f"a batch of {batch} is too small for one. Make it "
                    f"{math.ceil(minibatch / reuse)} with more episodes, or give minibatch="
                )
        return Plan(steps=steps, **own)

    def network(self, *, actions: int, **options: Any) -> ValueNetwork:
        """Returns the network, with a policy head.

        Args:
            actions: of the policy, `table.rows.num_actions`.
            **options: other settings, by name.

        Raises:
            ValueError: the paper does not give its size; says what to do.
        """
        own: dict[str, Any] = {"depth": self.depth, "width": self.width, "body": self.body}
        own |= options
        if None in own.values():
            raise ValueError(
                "the paper has AlphaZero's network of planes here, whose size it does not give; "
                "choose depth= and width="
            )
        return ValueNetwork(actions=actions, **own)


_TABLE = "Schmid et al. 2023, supplement, tables S1 and S2"

_CHESS = Preset(
    minibatch=2048,
    optimiser="sgd",
    learning_rate=0.1,
    decay_updates=40e3,
    decay=0.8,
    policy_weight=1.0,
    value_weight=0.25,
    buffer=50_000_000,
    reuse=1.0,
    p_td1=0.0,
    q_search=1.0,
    q_recursive=0.2,
    epsilon=0.0,
    resign_below=-0.9,
    no_resign=0.2,
    greedy_after=30,
    max_moves=512,
    temperature=1.5,
    body="resnet",
    depth=None,
    width=None,
    source=_TABLE,
)

_GO = dataclasses.replace(
    _CHESS,
    learning_rate=0.02,
    decay_updates=200e3,
    decay=0.1,
    value_weight=0.5,
    reuse=0.2,
    p_td1=0.2,
    q_search=0.0,
    q_recursive=0.0,
    max_moves=722,
)

_SCOTLAND_YARD = Preset(
    minibatch=1024,
    optimiser="sgd",
    learning_rate=0.1,
    decay_updates=2e6,
    decay=0.5,
    policy_weight=0.05,
    value_weight=1.0,
    buffer=1_000_000,
    reuse=5.0,
    p_td1=0.0,
    q_search=0.3,
    q_recursive=0.1,
    epsilon=0.0,
    resign_below=None,
    no_resign=None,
    greedy_after=None,
    max_moves=None,
    temperature=1.0,
    body="mlp",
    depth=6,
    width=512,
    source=_TABLE,
)

_HOLDEM = dataclasses.replace(
    _SCOTLAND_YARD,
    optimiser="adam",
    learning_rate=1e-4,
    policy_weight=0.01,
    reuse=10.0,
    q_search=0.9,
    epsilon=0.1,
    width=2048,
)

# Small games: a smaller network and minibatch, a cosine, and as many updates as data allow.
_SMALL: dict[str, Any] = {
    "minibatch": 256,
    "optimiser": "adam",
    "learning_rate": 1e-3,
    "decay": None,
    "decay_updates": 1.0,
    "buffer": 1 << 17,
    "depth": 3,
    "width": 192,
    "source": "ours, on the basis of the paper's for a larger game",
}

PRESETS: dict[str, Preset] = {
    "chess": _CHESS,
    "go": _GO,
    "scotland_yard": _SCOTLAND_YARD,
    "holdem": _HOLDEM,
    "leduc": dataclasses.replace(_HOLDEM, **_SMALL, reuse=20.0),
    "generic": dataclasses.replace(
        _SCOTLAND_YARD, **(_SMALL | {"width": 64}), reuse=20.0, q_search=0.9, epsilon=0.1
    ),
    "glasses": dataclasses.replace(_SCOTLAND_YARD, **_SMALL, reuse=20.0, q_search=0.9, epsilon=0.1),
}
"""Settings by name; see `preset`."""


def preset(name: str) -> Preset:
    """Returns named settings: those of table S2 for large games, ours for small ones.

    Raises:
        ValueError: there is none of that name; lists those there are.
    """
    if name not in PRESETS:
        raise ValueError(f"no preset {name!r}; choose one of {', '.join(PRESETS)}")
    return PRESETS[name]
