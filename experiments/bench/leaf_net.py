"""How far leaf values of flops are off: a network, and matrices of pairs of buckets.

Values are what later betting adds for every hand of the player who chooses against 48 hands of the
opponent, in pots, over sampled runouts. A matrix of pairs of buckets, one for each continuation and
end of the street, gives all hands of a bucket one value, and knows the opponent's hands by their
buckets; its entries here are means over all hands of both buckets on the same runouts, so that only
the buckets are to blame. `nothing` is a showdown without bets.

    python experiments/bench/leaf_net.py --minutes 4
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from experiments._report import markdown
from jaxsolve import holdem
from jaxsolve.holdem import leaf_net, limited, play
from jaxsolve.holdem._boards import compatible_reach
from jaxsolve.holdem.leaf_net import _examples as examples
from jaxsolve.mccfr import Continuations, bias


def main() -> None:
    """Prints a row for each kind of values."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--blueprint", type=Path, help="a directory; a small one by default")
    parser.add_argument("--minutes", type=float, default=4.0, help="of examples")
    parser.add_argument("--spots", type=int, default=60, help="held out, each of another flop")
    parser.add_argument("--runouts", type=int, default=128, help="of each")
    parser.add_argument("--out", type=Path, default=Path("runs/leaf_net"))
    given = parser.parse_args()
    base = play.open_agent("blueprint" if given.blueprint is None else str(given.blueprint))
    assert isinstance(base, play.BlueprintAgent)
    after = limited.beyond(base.view, Continuations(base.sums, bias(10)))
    begin = time.process_time()
    net = leaf_net.train(after, minutes=given.minutes, out=given.out, clock=time.process_time)
    spent = time.process_time() - begin
    found = [_errors(after, net, seed, given.runouts) for seed in range(given.spots)]
    names = ("nothing", "bucket matrices", "network")
    mean = np.mean(found, 0)
    error = np.std(found, 0, ddof=1) / np.sqrt(given.spots)
    rows = [
        {"values": n, "mae_pots": m, "standard_error": e}
        for n, m, e in zip(names, mean, error, strict=True)
    ]
    print(markdown(rows))
    print(f"{spent:.0f} processor seconds for examples and fit, buckets {after.game.num_buckets}")


def _errors(
    after: limited.Beyond, net: leaf_net.LeafNet, seed: int, runouts: int
) -> tuple[float, float, float]:
    """Returns mean absolute errors in pots of (nothing, bucket matrices, the network)."""
    rng = np.random.default_rng([seed, 77])
    board = tuple(sorted(rng.choice(52, 3, replace=False).tolist()))
    spot = examples.leaf_spot(after, examples.flop_ends(after), board, rng)
    other, live = examples.some_hands(board, rng), np.flatnonzero(holdem.possible(board))
    boards = examples.some_runouts(board, runouts, rng)
    weights = np.zeros(1326)
    weights[other] = 1
    exact = examples.added_by_betting(after, spot, live, weights, boards)

    bucket = after.game.abstraction.bucket(board)[live].astype(int)
    size = np.bincount(bucket)
    share = np.bincount(bucket[np.searchsorted(live, other)], minlength=len(size))
    weights[live] = (share / np.maximum(size, 1))[bucket]
    smooth = examples.added_by_betting(after, spot, live, weights, boards)
    sums = np.stack([np.bincount(bucket, np.nan_to_num(x), len(size)) for x in smooth.T], 1)
    there = np.bincount(bucket, np.isfinite(smooth[:, 0]), len(size))
    matrices = (sums / np.maximum(there, 1)[:, None])[bucket]

    features = examples.betting_features(
        after,
        np.array([spot.node]),
        np.array([spot.spent]),
        after.game.menu.stack,
        spot.chooser,
    )
    first, second = (x[0] for x in net.factors(leaf_net.hand_features(board), features))
    fit = compatible_reach(np.where(np.isin(np.arange(1326), other), second.T, 0)).T
    met = compatible_reach(np.isin(np.arange(1326), other).astype(float))
    with np.errstate(invalid="ignore", divide="ignore"):
        said = np.einsum("hkr,hr->hk", first, fit / met[:, None])[live]
    off = [np.nanmean(np.abs(exact - x)) for x in (0, matrices, said)]
    return off[0], off[1], off[2]


if __name__ == "__main__":
    main()
