"""`jaxsolve play holdem --agent ...`: a person against an agent of hold'em at full size."""

from __future__ import annotations

import sys

from jaxsolve.cli._holdem_play import stack_of
from jaxsolve.cli._terminal import Terminal


def play_holdem(agent: str, *, matches: int, seat: int, seed: int, stack: str | None) -> None:
    """Plays hands until so many are over, or the input ends.

    Args:
        agent: words of `holdem.play.AGENTS`.
        matches: hands; 0 for no end.
        seat: of the person in the first hand; then by turns.
        seed: of cards and of the agent.
        stack: such as "200bb"; a blueprint's by default.

    Raises:
        ValueError: the words name no agent, or it cannot play with these stacks.
    """
    from jaxsolve import holdem as he
    from jaxsolve.holdem import play

    if seat > 1:
        raise ValueError("--seat must be 0 (the big blind) or 1 (the button)")
    terminal = Terminal()
    terminal.wait(f"opening {agent}")
    opponent = play.open_agent(agent)
    rules, chips = he.no_limit(), stack_of(stack, [opponent])
    person = play.Person(terminal.ask, terminal.tell, opponent=opponent)
    total, played = 0.0, 0
    try:
        terminal.stop()
        print("f, c, r300, a; range, ? for help; Ctrl-D ends.", file=sys.stderr)
        while not matches or played < matches:
            you = (seat + played) % 2
            terminal.tell(f"hand {played + 1}: you are {('the big blind', 'the button')[you]}")
            seats: list[play.HandAgent] = [opponent, opponent]
            seats[you] = person
            done = play.play_hand(
                *(seats, rules, chips, play.shuffled([seed, played], 2)),
                number=played,
                keys=[2 * (seed + played), 2 * (seed + played) + 1],
            )
            total, played = total + float(done.chips[you]), played + 1
            terminal.tell(f"  you win {done.chips[you]:+g}; total {total:+g} after {played}\n")
    except EOFError:
        print()
    finally:
        terminal.stop()
        play.close_agent(opponent)
