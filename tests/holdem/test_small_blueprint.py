"""Agents without a directory: a blueprint is trained once, kept, and found again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import pytest
from made_buckets import save_made_buckets

import games
from jaxsolve import holdem, public
from jaxsolve.holdem import play
from jaxsolve.holdem.leaf_net import _network
from jaxsolve.holdem.play import _small_blueprint as small
from jaxsolve.nets import ValueNetwork, make_net, save_net


@pytest.fixture
def kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, buckets that cost nothing, and a moment of training."""

    def build(counts: Any, *, instead: Path) -> Any:
        assert tuple(counts) == small.BUCKETS
        out = instead / "buckets"
        out.mkdir(exist_ok=True)
        save_made_buckets(out, 4)
        return holdem.Abstraction.load(out, verify=False)

    monkeypatch.setattr(small, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(small, "kept_abstraction", build)
    monkeypatch.setattr(small, "MINUTES", 0.005)
    return tmp_path


@pytest.mark.parametrize(
    ("text", "players", "seats"),
    [("pluribus", None, 6), ("pluribus", 3, 3), ("modicum", None, 2), ("blueprint", None, 2)],
)
def test_an_agent_alone_has_a_blueprint_of_its_own(
    kept: Path, text: str, players: int | None, seats: int
) -> None:
    agent: Any = play.open_agent(text, players=players)
    below = agent if text == "blueprint" else agent.blueprint
    assert isinstance(agent, play.BlueprintAgent if text == "blueprint" else play.SearchAgent)
    assert (below.game.menu.players, below.game.menu.stack) == (seats, 2_000)
    (tables,) = kept.glob(f"blueprint-{seats}-*/tables.npz")
    before = tables.stat().st_mtime_ns
    play.open_agent(text, players=players)
    assert tables.stat().st_mtime_ns == before


def test_a_network_is_told_by_its_file(kept: Path) -> None:
    river = Path(__file__).parents[2] / "examples" / "river_net.npz"
    agent: Any = play.open_agent(f"network:{river}")
    assert agent.net is not None
    assert agent.leaf_net is None
    towers = _network.Towers(4, rank=2, width=4, depth=1)
    net = _network.leaf_net(jax.random.key(0), towers, _network.name_of(agent.after))
    net.save(kept / "leaf.npz")
    (folder,) = kept.glob("blueprint-2-*")
    again: Any = play.open_agent(f"network:{kept / 'leaf.npz'}:{folder}")
    assert again.leaf_net is not None
    kuhn = public.public_game(games.load("kuhn"))
    save_net(make_net(kuhn, ValueNetwork(8, 1), jax.random.key(0)), kept / "kuhn.npz")
    with pytest.raises(ValueError, match="not of river values"):
        play.open_agent(f"network:{kept / 'kuhn.npz'}")
    with pytest.raises(OSError, match="nowhere"):
        play.open_agent("network:nowhere.npz")


@pytest.mark.parametrize("players", range(2, 10))
def test_menus_of_all_tables(players: int) -> None:
    menu = small.small_menu(players)
    assert menu.players == players
    assert [str(size) for size in menu.streets[3].at(0)][-1] == "a"


def test_without_a_cache_a_directory_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(small, "cache_folder", lambda: None)
    with pytest.raises(ValueError, match="name it as in modicum:DIR"):
        play.open_agent("modicum")
