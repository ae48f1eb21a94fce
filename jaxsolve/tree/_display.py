"""How trees and policies show themselves: one line of text, or a table in a notebook."""

from __future__ import annotations

import html as _html
from typing import TYPE_CHECKING

import jax

if TYPE_CHECKING:
    from jaxsolve.tree._policy import Policy
    from jaxsolve.tree._public_tree import PublicTree

_ROWS = 24
"""Infosets shown in a notebook before the table is cut, shared out among the players."""


def tensor_bytes(tree: PublicTree) -> int:
    """Returns the bytes of all tensors of a tree."""
    return sum(x.size * x.dtype.itemsize for x in jax.tree.leaves(tree))


def facts(tree: PublicTree) -> dict[str, str]:
    """Returns what a person wants to know of a tree, as {name: text}."""
    out = {}
    info = tree.names
    if info is not None:
        out["game"] = info.name
        if info.num_states is not None:
            out["world states"] = f"{info.num_states:,}"
        out["public states"] = f"{info.num_public_states:,}"
        out["infosets"] = " + ".join(f"{k:,}" for k in info.num_infosets)
    out["own levels"] = " + ".join(str(len(p.levels)) for p in tree.players)
    out["hands per row"] = ", ".join(str(p.num_hands) for p in tree.players)
    out["tensors"] = f"{tensor_bytes(tree) / 2**20:.2f} MiB"
    if info is not None:
        out["built in"] = f"{info.build_seconds:.2f} s"
    return out


def text(tree: PublicTree) -> str:
    """Returns one line about a tree."""
    return "PublicTree(" + ", ".join(f"{k}: {v}" for k, v in facts(tree).items()) + ")"


def html(tree: PublicTree) -> str:
    """Returns a table about a tree."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{k}</th><td>{_html.escape(v)}</td></tr>"
        for k, v in facts(tree).items()
    )
    return f"<table><caption>PublicTree</caption>{rows}</table>"


def policy_html(policy: Policy) -> str:
    """Returns a table of action probabilities with bars."""
    if policy.names is None:
        return _html.escape(repr(policy))
    rows = policy.rows()
    shown, players = [], len(policy.players)
    for i in range(players):
        shown += [row for row in rows if row[0] == i][: _ROWS // players]
    body = []
    for player, name, actions in shown:
        cells = "".join(
            f"<td style='text-align:left;background:linear-gradient(90deg,#9ec5e8 {100 * p:.0f}%,"
            f"transparent {100 * p:.0f}%)'>{_html.escape(a)} {p:.3f}</td>"
            for a, p in actions.items()
        )
        body.append(f"<tr><td>{player}</td><td>{_html.escape(name)}</td>{cells}</tr>")
    left = len(rows) - len(shown)
    more = f"<p>... and {left:,} more infosets: policy.rows(), policy.table()</p>" if left else ""
    head = "<tr><th>player</th><th>infoset</th><th colspan=9>policy</th></tr>"
    return (
        f"<table><caption>{_html.escape(repr(policy))}</caption>{head}{''.join(body)}</table>{more}"
    )
