"""A river in three questions: what a hand does, what a fixed opponent is worth, other boards.

    python examples/river_report.py

takes seconds, and leaves the solutions of the boards in runs/boards.
"""

from __future__ import annotations

from pathlib import Path

from jaxsolve import holdem

RIVER = Path(__file__).parent / "river.toml"

result = holdem.solve(RIVER, iterations=200, progress=False)
oop, ip = result.ev
print(f"oop gets {oop:.2f} and ip {ip:.2f} of a pot of {result.pot:.0f}")
for row in result.node("b100").rows("QJs"):
    print(f"{row['hand']} after a bet of half of the pot: calls {row['c']:.0%}, EV {row['EV']:.1f}")

# The same river against somebody who only calls a bet of half of the pot with pairs.
locked = holdem.lock(result.spot, "b100", {"22+": {"c": 1.0}})
calling = holdem.solve(locked, iterations=200, progress=False)
print(f"oop gets {calling.ev[0]:.2f} if pairs always call")

boards = ["Td9d6hQc2s", "Td9d6hQc2h"]
for one in holdem.solve_boards(RIVER, boards, "runs/boards", progress=False):
    checks = one.frequency["x"]
    print(f"{one.board}: oop {one.ev_oop:.2f}, equity {one.equity_oop:.1%}, checks {checks:.0%}")
