"""What one iteration starts, reads and writes, from the optimised program of a loop.

Bytes are those that kernels exchange with memory, a kernel at a time: what it writes, and of what
it reads the whole array, or, where a kernel only picks rows or slices of it, what it picks. Caches
are not modelled, so a small array that two kernels read counts twice.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import NamedTuple

SIZES = {"pred": 1, "s8": 1, "u8": 1, "bf16": 2, "f16": 2, "s16": 2, "u16": 2, "s64": 8, "f64": 8}
"""Bytes of a number; 4 of any other type."""

FREE = {"parameter", "constant", "tuple", "get-tuple-element", "bitcast", "after-all"}
"""Instructions that run nothing."""

PICKS = {"gather", "slice", "dynamic-slice"}
"""Instructions that read only what they return of their first operand."""

COLLECTIVES = ("all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute")

_HEAD = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\) -> .*\{$")
_LINE = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([a-z][\w\-]*)\((.*)$")
_CALLED = re.compile(r"(?:calls|to_apply|body)=%?([\w.\-]+)")
_BODY = re.compile(r" while\(.*?body=%?([\w.\-]+)")
_SHAPE = re.compile(r"([a-z]+[0-9]*)\[([0-9,]*)\]")
_NAME = re.compile(r"%([\w.\-]+)")
_LABELS = re.compile(r"dim_labels=(\w+)_\w+->")
_WINDOW = re.compile(r"window=\{([^}]*)\}")
_CONTRACTED = re.compile(r'"?lhs_contracting_dim(?:ension)?s"?[:=]\s*[\[{]"?(\d+)')


class Instruction(NamedTuple):
    """One line of a program.

    Attributes:
        name: its own.
        shape: text of what it returns.
        opcode: what it does.
        operands: names of what it is given.
        rest: the text after the operation's name.
    """

    name: str
    shape: str
    opcode: str
    operands: list[str]
    rest: str


class Kernel(NamedTuple):
    """Something that is started.

    Attributes:
        name: in the program.
        kind: "fusion", "copy", "product", "collective" or "custom call"; else the operation.
        read: bytes.
        written: bytes.
        flops: of a product, else 0.
        half: whether the product's factors have 16 bits.
        recorded: whether it is part of a command buffer, which is started at once.
    """

    name: str
    kind: str
    read: int
    written: int
    flops: int
    half: bool
    recorded: bool


class Counts(NamedTuple):
    """One iteration of a loop.

    Attributes:
        kinds: how many kernels of each kind.
        kernels: all of them.
        recorded: how many of them are inside command buffers.
        read, written: bytes.
        flops, half_flops: of products, with factors of 32 and of 16 bits.
    """

    kinds: dict[str, int]
    kernels: int
    recorded: int
    read: int
    written: int
    flops: int
    half_flops: int


def count(text: str) -> Counts:
    """Returns the counts of the longest loop of an optimised program, of all of it if it has none.

    Raises:
        ValueError: this is not a program.
    """
    found = kernels(text)
    return Counts(
        kinds=dict(Counter(k.kind for k in found)),
        kernels=len(found),
        recorded=sum(k.recorded for k in found),
        read=sum(k.read for k in found),
        written=sum(k.written for k in found),
        flops=sum(k.flops for k in found if not k.half),
        half_flops=sum(k.flops for k in found if k.half),
    )


def kernels(text: str) -> list[Kernel]:
    """Returns the kernels of one iteration of the longest loop, of the whole program without one.

    Raises:
        ValueError: this is not a program.
    """
    return _kernels(_computations(text), _counted(text), False)


def collectives(text: str) -> list[int]:
    """Returns the bytes that each exchange between devices in a whole program leaves."""
    return [
        _written(x)
        for body in _computations(text).values()
        for x in body
        if x.opcode.removesuffix("-start") in COLLECTIVES
    ]


def has_loop(text: str) -> bool:
    """Returns whether a program has a loop, of which then one iteration is counted."""
    return bool(_BODY.search(text))


def cycles(text: str) -> int | None:
    """Returns the cycles that XLA estimates for what is counted; None where it estimates none.

    Only a TPU's compiler writes them, and none for gathers.
    """
    name = _counted(text)
    start = re.search(rf"^(?:ENTRY )?%?{re.escape(name)} \(", text, re.M)
    assert start is not None
    body = text[start.start() : text.index("\n}", start.start())]
    found = re.findall(r'"estimated_cycles":"?(\d+)', body)
    return sum(map(int, found)) if found else None


def _counted(text: str) -> str:
    """Returns the name of the computation that is counted."""
    computations = _computations(text)
    bodies = _BODY.findall(text) or re.findall(r"^ENTRY %?([\w.\-]+)", text, re.M)
    if not bodies:
        raise ValueError("the text has neither a loop nor an entry: it is no compiled program")
    return max(bodies, key=lambda b: len(computations[b]))


def _computations(text: str) -> dict[str, list[Instruction]]:
    out: dict[str, list[Instruction]] = {}
    here: list[Instruction] = []
    for line in text.splitlines():
        head = _HEAD.match(line)
        if head:
            here = out[head[1]] = []
            continue
        found = _LINE.match(line)
        if found:
            name, shape, opcode, rest = found.groups()
            inside = rest.split("), ")[0]
            here.append(Instruction(name, shape, opcode, _NAME.findall(inside), rest))
    return out


def _kernels(computations: dict[str, list[Instruction]], name: str, recorded: bool) -> list[Kernel]:
    body = computations[name]
    shapes = {x.name: x.shape for x in body}
    out: list[Kernel] = []
    for x in body:
        if x.opcode in FREE or x.opcode.endswith("-done"):
            continue
        called = _CALLED.findall(x.rest)
        if x.opcode in ("call", "while", "conditional") and called:
            for part in called:
                out += _kernels(computations, part, recorded or "command_buffer" in part)
            continue
        inside = computations[called[0]] if x.opcode == "fusion" and called else [x]
        flops, half = _product(x, inside, shapes)
        out.append(
            Kernel(
                name=x.name,
                kind=_kind(x, flops),
                read=_read(x, inside, shapes),
                written=_written(x),
                flops=flops,
                half=half,
                recorded=recorded,
            )
        )
    return out


def _kind(x: Instruction, flops: int) -> str:
    opcode = x.opcode.removesuffix("-start")
    if opcode in COLLECTIVES:
        return "collective"
    if flops:
        return "product"
    return "custom call" if opcode == "custom-call" else opcode


def _written(x: Instruction) -> int:
    shapes = _SHAPE.findall(x.shape)
    if x.opcode == "custom-call":  # the second result is scratch
        shapes = shapes[:1]
    return sum(_bytes(s) for s in shapes)


def _read(x: Instruction, inside: list[Instruction], shapes: dict[str, str]) -> int:
    if inside == [x]:
        return sum(size(shapes[name]) for name in x.operands if name in shapes)
    demand = _demand(inside)
    total = 0
    for y in inside:
        if y.opcode == "parameter":
            whole = size(shapes[x.operands[int(y.rest.split(")")[0])]])
            total += round(whole * min(1.0, demand[y.name] / max(_length(y.shape), 1)))
    return total


def _demand(inside: list[Instruction]) -> dict[str, float]:
    """Returns how many numbers of each instruction of a fusion its result needs."""
    shapes = {y.name: y.shape for y in inside}
    demand = dict.fromkeys(shapes, 0.0)
    demand[inside[-1].name] = float(_length(inside[-1].shape))
    for y in reversed(inside):
        here = min(demand[y.name], float(_length(y.shape)))
        share = here / max(_length(y.shape), 1)
        for k, name in enumerate(y.operands):
            if name not in shapes:
                continue
            whole = _length(shapes[name])
            if y.opcode in PICKS:
                demand[name] += here if k == 0 else share * whole
            else:
                demand[name] += share * whole
    return demand


def _product(x: Instruction, inside: list[Instruction], shapes: dict[str, str]) -> tuple[int, bool]:
    """Returns (flops, whether the factors have 16 bits) of a matrix product, (0, False) else."""
    if x.opcode == "custom-call" and "gemm" not in x.rest and "matmul" not in x.rest:
        return 0, False
    shapes = shapes | {y.name: y.shape for y in inside}
    for y in inside:
        length = _contracted(y, shapes)
        if length:
            kind, _ = _SHAPE.findall(shapes[y.operands[0]])[0]
            return 2 * _numbers(_SHAPE.findall(y.shape)[0][1]) * length, SIZES.get(kind) == 2
    return 0, False


def _contracted(y: Instruction, shapes: dict[str, str]) -> int:
    """Returns how many products each number of a result sums; 0 if it is no matrix product."""
    if y.opcode not in ("custom-call", "dot", "convolution") or not y.operands:
        return 0
    found = _LABELS.search(y.rest) if y.opcode == "convolution" else _CONTRACTED.search(y.rest)
    if not found:
        return 0
    at = found[1].index("f") if y.opcode == "convolution" else int(found[1])
    length = int(_SHAPE.findall(shapes[y.operands[0]])[0][1].split(",")[at])
    return length * _taps(y.rest) if y.opcode == "convolution" else length


def _taps(rest: str) -> int:
    """Returns the factors that a window adds; dilated, it holds a batch, and adds none.

    A TPU's compiler writes matrix products as convolutions.
    """
    window = _WINDOW.search(rest)
    if window is None or "dilate" in window[1]:
        return 1
    sizes = re.search(r"size=([\dx]+)", window[1])
    return math.prod(int(n) for n in sizes[1].split("x")) if sizes else 1


def size(shape: str) -> int:
    """Returns the bytes of a shape such as "f32[2,3]{1,0}" or of a tuple of them."""
    return sum(_bytes(s) for s in _SHAPE.findall(shape))


def _length(shape: str) -> int:
    return sum(_numbers(dims) for _, dims in _SHAPE.findall(shape))


def _bytes(shape: tuple[str, str]) -> int:
    return SIZES.get(shape[0], 4) * _numbers(shape[1])


def _numbers(dims: str) -> int:
    return math.prod(int(n) for n in dims.split(",")) if dims else 1
