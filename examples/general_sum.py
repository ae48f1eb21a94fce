"""Games of general sum: what the solvers find, and how NashConv tells.

    pip install "jaxsolve[openspiel]"
    python examples/general_sum.py

NashConv is the sum over players of what each gains by a best response: 0 in a Nash equilibrium,
whatever the payoffs sum to. Exploitability is NashConv divided by the number of players. Average
policies of CFR converge to an equilibrium where two players' payoffs have a constant sum. Elsewhere
they may or may not.
"""

from __future__ import annotations

import jaxsolve as js

# A smuggler bribes a sheriff, who pays for a search that finds nothing (Farina et al. 2019).
SHERIFF = "openspiel:sheriff(max_items=2,max_bribe=2,num_rounds=2)"
# After Shapley (1964): each best response moves on to the next action, round and round.
ROUND = "matrix(payoffs=[[0,1,0],[0,0,2],[1,0,0]],column_payoffs=[[0,0,1],[1,0,0],[0,1,0]])"

tree = js.compile(SHERIFF)
result = js.solve(tree, "pcfr+", iterations=300, progress=False)
smuggler, sheriff = result.values
print(f"the smuggler gets {smuggler:.3f}, the sheriff {sheriff:.3f}")
before = float(js.nash_conv(tree, js.uniform_policy(tree)))
after = float(js.nash_conv(tree, result.average))
print(f"NashConv {after:.1e}, of uniform play {before:.2f}: an equilibrium")

tree = js.compile(ROUND)
result = js.solve(tree, "cfr+", iterations=10_000, progress=False)
gaps = [2 * exploitability for _, _, exploitability in result.curve.rows()]
print(f"NashConv {gaps[-1]:.2f} after 10,000 iterations, {min(gaps):.2f} at best: none was found")
