"""Dark chess in plain Python, square by square: a slow reference that shares no code with `games`.

Boards are lists of letters, square size x rank + file, rank 1 first; capitals are White's. Moves
have names such as "e2e4"; an underpromotion ends with its letter.
"""

from __future__ import annotations

import functools

RAYS = {
    "r": ((0, 1), (1, 0), (0, -1), (-1, 0)),
    "b": ((1, 1), (1, -1), (-1, -1), (-1, 1)),
}
RAYS["q"] = RAYS["k"] = RAYS["r"] + RAYS["b"]
RAYS["n"] = tuple((a, b) for a in (-2, -1, 1, 2) for b in (-2, -1, 1, 2) if abs(a) != abs(b))


@functools.cache
def reached(size: int, kind: str) -> list[list[list[int]]]:
    """For each square the lines of squares along which a piece moves, nearest first."""
    found = []
    for square in range(size * size):
        rank, file = divmod(square, size)
        lines = []
        for files, ranks in RAYS[kind]:
            line = []
            for k in range(1, 2 if kind in "kn" else size):
                f, r = file + k * files, rank + k * ranks
                if not (0 <= f < size and 0 <= r < size):
                    break
                line.append(size * r + f)
            lines.append(line)
        found.append(lines)
    return found


class Reference:
    """A game that is played move by move.

    Attributes:
        turn: 0 for White.
        over: whether the game has ended.
        returns: of White and Black, 0 each before the end.
    """

    def __init__(self, fen: str) -> None:
        board, side, castling, passing, clock, _ = fen.split()
        assert passing == "-"
        rows = board.split("/")[::-1]
        self.size = len(rows)
        self.squares: list[str] = []
        for row in rows:
            for letter in row:
                self.squares += ["."] * int(letter) if letter.isdigit() else [letter]
        self.turn = "wb".index(side)
        self.castling = set(castling) - {"-"}
        self.passing = -1
        self.clock = int(clock)
        self.seen: dict[tuple, int] = {}
        self.over, self.returns = False, [0.0, 0.0]
        self._remember()

    def board(self) -> str:
        """All squares, the last rank first, as letters and dots."""
        return self._text(self.squares)

    def view(self, player: int) -> str:
        """The same with "?" for what a player does not see."""
        sees = {k for k, letter in enumerate(self.squares) if self._own(letter, player)}
        for _, to, _ in self._pseudo(player):
            sees.add(to)
            if to == self.passing and player == self.turn:
                sees.add(to - self._forward(player))
        return self._text([x if k in sees else "?" for k, x in enumerate(self.squares)])

    def moves(self) -> list[str]:
        """Names of the legal moves; none once the game is over."""
        return [] if self.over else [self._name(*move) for move in self._pseudo(self.turn)]

    def play(self, name: str) -> None:
        """Makes a move."""
        found = [move for move in self._pseudo(self.turn) if self._name(*move) == name]
        assert len(found) == 1, name
        source, to, becomes = found[0]
        squares, side, size = self.squares, self.turn, self.size
        piece, victim = squares[source], squares[to]
        pawn = piece in "Pp"
        squares[source], squares[to] = ".", piece
        if pawn and to == self.passing and source % size != to % size:
            squares[to - self._forward(side)] = "."
        if becomes:
            squares[to] = becomes.upper() if side == 0 else becomes
        if piece in "Kk" and abs(to - source) == 2:
            corner = source + 3 if to > source else source - 4
            squares[(source + to) // 2], squares[corner] = squares[corner], "."
        for square, rights in ((4, "KQ"), (0, "Q"), (7, "K"), (60, "kq"), (56, "q"), (63, "k")):
            if size == 8 and square in (source, to):
                self.castling -= set(rights)
        self.clock = 0 if pawn or victim != "." else self.clock + 1
        self.turn, self.passing = 1 - side, -1
        if pawn and abs(to - source) == 2 * size:
            middle = (source + to) // 2
            beside = [to + k for k in (-1, 1) if 0 <= to % size + k < size]
            if any(squares[k] == "pP"[side] for k in beside):
                self.passing = middle
        if victim in "Kk":
            self.over, self.returns = True, [1.0 - 2 * side, 2.0 * side - 1]
            return
        self._remember()

    def _remember(self) -> None:
        key = ("".join(self.squares), self.turn, frozenset(self.castling), self.passing)
        self.seen[key] = self.seen.get(key, 0) + 1
        drawn = self.seen[key] >= 3 or self.clock >= 100
        self.over = drawn or not self._pseudo(self.turn)

    def _pseudo(self, side: int) -> list[tuple[int, int, str]]:
        """(from, to, what a pawn becomes) of all moves, as if that side were to move."""
        squares, size, found = self.squares, self.size, []
        for source, piece in enumerate(squares):
            if not self._own(piece, side):
                continue
            kind = piece.lower()
            if kind == "p":
                found += self._pawn(source, side)
                continue
            for line in reached(size, kind)[source]:
                for to in line:
                    if self._own(squares[to], side):
                        break
                    found.append((source, to, ""))
                    if squares[to] != ".":
                        break
        king = 4 if side == 0 else 60
        for right, path, to in (("K", (1, 2), 2), ("Q", (-1, -2, -3), -2)):
            right = right if side == 0 else right.lower()
            if right in self.castling and all(squares[king + k] == "." for k in path):
                found.append((king, king + to, ""))
        return found

    def _pawn(self, source: int, side: int) -> list[tuple[int, int, str]]:
        squares, size = self.squares, self.size
        ahead = self._forward(side)
        rank, file = divmod(source, size)
        ends = []
        if squares[source + ahead] == ".":
            ends.append(source + ahead)
            start = 1 if side == 0 else size - 2
            if size == 8 and rank == start and squares[source + 2 * ahead] == ".":
                ends.append(source + 2 * ahead)
        for k in (-1, 1):
            to = source + ahead + k
            if 0 <= file + k < size:
                takes = squares[to] != "." and not self._own(squares[to], side)
                if takes or (to == self.passing and side == self.turn):
                    ends.append(to)
        last = size - 1 if side == 0 else 0
        return [
            (source, to, becomes)
            for to in ends
            for becomes in ("qnbr" if to // size == last else ("",))
        ]

    def _forward(self, side: int) -> int:
        return self.size if side == 0 else -self.size

    def _name(self, source: int, to: int, becomes: str) -> str:
        ends = ["abcdefgh"[k % self.size] + str(k // self.size + 1) for k in (source, to)]
        return ends[0] + ends[1] + becomes.replace("q", "")

    def _text(self, squares: list[str]) -> str:
        n = self.size
        return "".join("".join(squares[n * r : n * (r + 1)]) for r in range(n - 1, -1, -1))

    @staticmethod
    def _own(letter: str, side: int) -> bool:
        return letter.isupper() if side == 0 else letter.islower()
