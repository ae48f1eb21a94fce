"""`jaxsolve play holdem --agent ...`: a person against agents of hold'em at full size."""

from __future__ import annotations

import sys

from jaxsolve.cli._holdem_play import players_of, stack_of
from jaxsolve.cli._terminal import Terminal


def play_holdem(
    agent: str, *, matches: int, seat: int, seed: int, stack: str | None, players: int | None
) -> None:
    """Plays hands until so many are over, or the input ends.

    Args:
        agent: words of `holdem.play.AGENTS`, in all other seats.
        matches: hands; 0 for no end.
        seat: of the person in the first hand; then by turns.
        seed: of cards and of the agent.
        stack: such as "200bb"; a blueprint's by default.
        players: at the table; a blueprint's by default, or two.

    Raises:
        ValueError: the words name no agent, or it cannot play with these stacks or players.
    """
    from jaxsolve import holdem as he
    from jaxsolve.holdem import play

    terminal = Terminal()
    terminal.wait(f"opening {agent}")
    opponent = play.open_agent(agent, players=players)
    n = players_of(players, [opponent])
    if seat >= n:
        raise ValueError(f"--seat must be less than {n}, the number of players")
    rules, chips = he.no_limit(n), stack_of(stack, [opponent])
    names = ("the big blind", "the button") if n == 2 else he.position_names(n)
    person = play.Person(terminal.ask, terminal.tell, opponent=opponent)
    total, played = 0.0, 0
    try:
        terminal.stop()
        print("f, c, r300, a; range, ? for help; Ctrl-D ends.", file=sys.stderr)
        while not matches or played < matches:
            you = (seat + played) % n
            terminal.tell(f"hand {played + 1}: you are {names[you]}")
            seats: list[play.HandAgent] = [opponent] * n
            seats[you] = person
            done = play.play_hand(
                seats,
                rules,
                chips,
                play.shuffled([seed, played], n),
                number=played,
                keys=[n * (seed + played) + k for k in range(n)],
            )
            won = float(done.chips[you]) + 0.0  # not -0
            total, played = total + won, played + 1
            terminal.tell(f"  you win {won:+g}; total {total:+g} after {played}\n")
    except EOFError:
        print()
    finally:
        terminal.stop()
        play.close_agent(opponent)
