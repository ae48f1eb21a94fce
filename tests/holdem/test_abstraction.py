"""Card abstractions: look-ups, files, refusals, and one that is built whole."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jaxsolve import holdem
from jaxsolve.abstraction import in_chunks
from jaxsolve.cli import main
from jaxsolve.holdem import Abstraction
from jaxsolve.holdem import _build_abstraction as build
from jaxsolve.holdem._abstraction import DECK, HEADER, KIND, ROWS, VERSION, file_checksum

BUCKETS = (169, 6, 5, 4)
NAMES = {3: "flop", 4: "turn", 5: "river"}
PERMUTATIONS = list(itertools.permutations(range(4)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory whose tables have holes for zeros, and a few buckets."""
    path = tmp_path_factory.mktemp("abstraction")
    rng = np.random.default_rng(0)
    with build._tables(path) as tables:
        for street, count in zip(ROWS, BUCKETS[1:], strict=True):
            for row in {0, *_rows(street).tolist(), ROWS[street] - 1}:
                values = rng.integers(0, count, holdem.NUM_HANDS).astype(np.uint16)
                tables[street].write(row, values)
            tables[street].close()
            shutil.move(tables[street].path, path / f"{street}.npy")
    header = {
        "kind": KIND,
        "version": VERSION,
        "deck": DECK,
        "buckets": list(BUCKETS),
        "seed": 0,
        "bins": 50,
        "groups": 8,
        "mean_strength": {
            s: np.linspace(0.1, 0.9, k).tolist() for s, k in zip(ROWS, BUCKETS[1:], strict=True)
        },
        "crc32": {street: file_checksum(path / f"{street}.npy") for street in ROWS},
    }
    (path / HEADER).write_text(json.dumps(header))
    return path


def _rows(street: str) -> np.ndarray:
    """Rows of the boards below."""
    cards = next(k for k, name in NAMES.items() if name == street)
    boards = [holdem.parse_cards("2c7dThKs4h"[: 2 * cards])]
    return holdem.canonical_boards(cards).find(boards)[0]


def copy(folder: Path, to: Path, **changes: Any) -> Path:
    """Returns a directory with another header and links to the same tables."""
    to.mkdir()
    for street in ROWS:
        (to / f"{street}.npy").symlink_to(folder / f"{street}.npy")
    header = json.loads((folder / HEADER).read_text())
    header.update(changes)
    (to / HEADER).write_text(json.dumps({k: v for k, v in header.items() if v is not None}))
    return to


def test_a_board_with_other_suits_has_the_buckets_of_its_renamed_hands(folder: Path) -> None:
    found = Abstraction.load(folder)
    for cards in NAMES:
        board = np.array(holdem.parse_cards("2c7dThKs4h"[: 2 * cards]))
        own = found.bucket(board)
        for p, suits in enumerate(map(np.array, PERMUTATIONS)):
            other = found.bucket((4 * (board // 4) + suits[board % 4])[::-1])
            if len(set((board % 4).tolist())) >= 3:  # then no other permutation keeps the board
                np.testing.assert_array_equal(other[holdem.hand_after()[p]], own)


def test_tables_stay_on_the_disk(folder: Path) -> None:
    found = Abstraction.load(folder)
    assert all(isinstance(getattr(found, s), np.memmap) for s in ROWS)
    assert found.buckets == BUCKETS
    assert found.table("preflop").shape == (1, holdem.NUM_HANDS)
    assert found.bucket(()).max() == 168
    assert "169 / 6 / 5 / 4 buckets" in repr(found)
    assert "16,432" in found._repr_html_()


def test_checksums_differ_where_tables_do(folder: Path, tmp_path: Path) -> None:
    crc = json.loads((folder / HEADER).read_text())["crc32"]
    other = copy(folder, tmp_path / "other", crc32={**crc, "flop": 1})
    one, two = Abstraction.load(folder), Abstraction.load(other, verify=False)
    assert one.checksum != two.checksum


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"kind": "blueprint"}, "is a blueprint, not a card abstraction"),
        ({"version": 99}, "is of version 99, and this jaxsolve reads version 1"),
        ({"deck": "6789TJQKA x cdhs"}, "is of the deck 6789TJQKA x cdhs, not"),
        ({"deck": None}, "is damaged"),
        ({"buckets": [169, 6, 5]}, "do not fit together"),
        ({"buckets": [169, 6, 5, 70_000]}, "do not fit together"),
        ({"mean_strength": {}}, "do not fit together"),
        ({"crc32": {"flop": 1, "turn": 2, "river": 3}}, "flop.npy does not match its checksum"),
    ],
)
def test_wrong_headers_are_refused(
    folder: Path, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        Abstraction.load(copy(folder, tmp_path / "wrong", **changes))


def test_damaged_files_are_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no card abstraction"):
        Abstraction.load(tmp_path)
    damaged = copy(folder, tmp_path / "damaged")
    (damaged / "turn.npy").unlink()
    with pytest.raises(ValueError, match=r"turn\.npy is damaged"):
        Abstraction.load(damaged, verify=False)
    (damaged / "turn.npy").write_bytes((folder / "turn.npy").read_bytes()[:5000])
    with pytest.raises(ValueError, match=r"turn\.npy is damaged"):
        Abstraction.load(damaged, verify=False)
    np.save(damaged / "turn.npy", np.zeros((3, 4), np.uint16))
    with pytest.raises(ValueError, match=r"turn\.npy is uint16 \(3, 4\), not"):
        Abstraction.load(damaged, verify=False)
    (damaged / HEADER).write_text('{"kind": ')
    with pytest.raises(ValueError, match="is damaged"):
        Abstraction.load(damaged)


@pytest.mark.parametrize(
    ("board", "words"),
    [
        ((1, 2), "3, 4 or 5 cards, not 2"),
        ((1, 2, 2), "2s is on the board twice|on the board twice"),
        ((1, 2, 52), "from 0 to 51, not 52"),
    ],
)
def test_wrong_boards(folder: Path, board: tuple[int, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        Abstraction.load(folder, verify=False).bucket(board)


@pytest.mark.parametrize("buckets", [0, 65_536, (200, 200), (200, 200, 65_536), 2.5, "200"])
def test_wrong_numbers_of_buckets(tmp_path: Path, buckets: Any) -> None:
    with pytest.raises(ValueError, match="buckets is "):
        holdem.build_abstraction(buckets, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_wrong_seed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="seed is a whole number"):
        holdem.build_abstraction(2, out=tmp_path / "new", seed=-1)


def test_too_little_memory_or_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert 4.0e8 < holdem.abstraction_needs(200).disk < 4.1e8
    assert holdem.abstraction_needs(200).memory < 1e9
    with monkeypatch.context() as patch:
        patch.setattr(build, "free_host_bytes", lambda: 2**20)
        with pytest.raises(MemoryError, match=r"needs 0\.\d+ GiB of memory and 0\.38 GiB of disk"):
            holdem.build_abstraction(200, out=tmp_path / "new")
    small = shutil.disk_usage(tmp_path)._replace(free=2**20)
    monkeypatch.setattr(build.shutil, "disk_usage", lambda place: small)
    with pytest.raises(OSError, match=r"0\.00 GiB are free at"):
        holdem.build_abstraction(200, out=tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_an_abstraction_of_the_same_numbers_is_kept(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another one, or a damaged one, is built again; and what fails leaves nothing new."""
    own = copy(folder, tmp_path / "own")
    before = sorted(path.name for path in own.iterdir())

    def fail(*_: Any) -> None:
        raise RuntimeError("building")

    monkeypatch.setattr(build, "_build", fail)
    assert holdem.build_abstraction(BUCKETS[1:], out=own).buckets == BUCKETS
    for buckets, seed in ((BUCKETS[1:], 1), ((6, 5, 5), 0)):
        with pytest.raises(RuntimeError, match="building"):
            holdem.build_abstraction(buckets, out=own, seed=seed)
    assert sorted({path.name for path in own.iterdir()} - {".lock"}) == before
    damaged = copy(folder, tmp_path / "damaged", crc32={"flop": 1, "turn": 2, "river": 3})
    with pytest.raises(RuntimeError, match="building"):
        holdem.build_abstraction(BUCKETS[1:], out=damaged)


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    def start(counts: Any, tables: Any, *_: Any) -> None:
        in_chunks(lambda low, high: tables["river"].write(low, np.zeros(1)), 100, 10)

    def closed(table: Any) -> None:  # what could not be written is written again here
        table._file.close()
        write()

    monkeypatch.setattr(build, "_build", start)
    monkeypatch.setattr(build._Table, "write", write)
    monkeypatch.setattr(build._Table, "close", closed)
    with pytest.raises(OSError, match="No space left"):
        holdem.build_abstraction(2, out=tmp_path)
    assert {path.name for path in tmp_path.iterdir()} <= {".lock"}


def test_picture_has_a_strip_for_each_bucket(folder: Path) -> None:
    pytest.importorskip("matplotlib")
    found, board = Abstraction.load(folder, verify=False), holdem.parse_cards("2c7dTh")
    axes = holdem.bucket_grid(found, board).axes[0]
    bucket, live = found.bucket(board), holdem.possible(board)
    strips = sum(
        len(np.unique(bucket[live & (holdem.preflop_classes() == cell)])) for cell in range(169)
    )
    assert len(axes.patches) == strips
    assert len({patch.get_facecolor() for patch in axes.patches}) == len(np.unique(bucket[live]))


Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs `jaxsolve holdem`; returns (exit status, standard output, standard error)."""

    def call(*words: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["jaxsolve", "holdem", *words])
        try:
            main()
        except SystemExit as end:
            return int(end.code or 0), *capsys.readouterr()
        return 0, *capsys.readouterr()

    return call


@pytest.mark.slow
def test_commands_with_pictures(folder: Path, tmp_path: Path, run: Run) -> None:
    pytest.importorskip("matplotlib")
    own = copy(folder, tmp_path / "own")
    code, _, err = run("abstraction", "--out", str(own), "--buckets", "6,5,4")
    assert code == 0, err
    assert "GiB of memory" in err
    assert "169 / 6 / 5 / 4" in err
    assert (own / "Td9d6h.png").stat().st_size > 10_000
    assert run("buckets", str(own), "2c7dTh", "--out", str(own / "one.png"))[0] == 0
    assert (own / "one.png").exists()


def test_command_shows_buckets(folder: Path, run: Run) -> None:
    code, out, err = run("buckets", str(folder), "2c7dThKs4h")
    assert code == 0, err
    assert len([line for line in out.splitlines() if "0." in line]) == BUCKETS[3]
    code, out, _ = run("buckets", str(folder), "2c7dTh", "--hand", "AhAd")
    assert code == 0
    assert "AhAd" in out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("abstraction", "--buckets", "70000", "--out"), "1 to 65,535"),
        (("abstraction", "--buckets", "many", "--out"), "write one number, or three"),
        (("abstraction", "--buckets", "2,3", "--out"), "one number, or three"),
        (("buckets", "DIR", "2c7d"), "3, 4 or 5 cards, not 2"),
        (("buckets", "DIR", "2c7dX"), "expected a rank"),
        (("buckets", "EMPTY", "2c7dTh"), "holds no card abstraction"),
    ],
)
def test_commands_refuse(
    folder: Path, tmp_path: Path, run: Run, words: tuple[str, ...], message: str
) -> None:
    places = {"DIR": str(folder), "EMPTY": str(tmp_path)}
    end = (str(tmp_path / "new"),) if words[-1] == "--out" else ()
    code, _, err = run(*(places.get(word, word) for word in words), *end)
    assert code == 2
    assert message in err
    assert not (tmp_path / "new").exists()


@pytest.mark.long
def test_a_whole_abstraction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Buckets are all used, know no suits, and are in the order of strength."""
    monkeypatch.setattr(build, "SAMPLE", dict.fromkeys(ROWS, 20_000))
    found = holdem.build_abstraction((20, 15, 10), out=tmp_path, progress=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(
        [".lock", HEADER, *(f"{street}.npy" for street in ROWS)]
    )
    assert Abstraction.load(tmp_path).checksum == found.checksum
    rng, after = np.random.default_rng(0), holdem.hand_after()
    for cards, count in ((3, 20), (4, 15), (5, 10)):
        table = found.table(NAMES[cards])
        canonical = holdem.canonical_boards(cards).boards
        rows = np.unique(rng.integers(0, len(table), 400))
        live = np.stack([holdem.possible(board) for board in canonical[rows]])
        assert ((table[rows] == holdem.NO_BUCKET) == ~live).all()
        assert set(np.unique(table[rows][live]).tolist()) == set(range(count))
        strength = found.mean_strength[NAMES[cards]]
        assert (np.diff(strength) > 0).all()
        for row in rows[:12]:
            board = canonical[row]
            bucket = found.bucket(board)
            for p, suits in enumerate(map(np.array, PERMUTATIONS)):
                other = found.bucket(4 * (board // 4) + suits[board % 4])
                np.testing.assert_array_equal(other[after[p]], bucket)
        if cards > 3:
            np.testing.assert_allclose(_mean_equity(found, cards), strength, atol=0.05)


def _mean_equity(found: Abstraction, cards: int) -> np.ndarray:
    """Returns the mean equity of the hands of each bucket, on random boards."""
    count = len(found.mean_strength[NAMES[cards]])
    total, number = np.zeros((2, count))
    dealt = np.random.default_rng(1).permuted(np.tile(np.arange(52), (100, 1)), axis=1)
    for board in dealt[:, :cards].tolist():
        there = holdem.possible(board)
        equity = holdem.equity(np.ones(holdem.NUM_HANDS), board)[there]
        bucket = found.bucket(board)[there]
        total += np.bincount(bucket, equity, count)
        number += np.bincount(bucket, minlength=count)
    assert number.min() > 200
    return np.asarray(total / number)
