"""Public states by name, what a policy does at one of them, and a picture of the public tree.

    python examples/public_tree.py

writes leduc.svg, which any browser shows.
"""

from __future__ import annotations

import jaxsolve as js

tree = js.compile("leduc(suits=1)")
for node in tree.public_nodes()[:8]:  # a listing
    print(f"{node.name:16} {', '.join(node.actions)}")

node = tree.public("raise call / Ks")
print(f"{node.name}: player {node.actors[0]} may {' or '.join(node.actions)}")

exact = js.solve_lp(tree).policy
for _, infoset, odds in exact.at("raise call / Ks"):
    print(infoset, {action: round(p, 3) for action, p in odds.items()})

tree.draw("raise call").save("leduc.svg")
