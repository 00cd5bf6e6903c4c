"""The sizes of operations on plain integers and bools."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from qrt.ops.elementwise import bind
from qrt.types import IntegerType
from tests.kernels.draws import Array
from tests.kernels.size_cases import Case, combinations

SIZES = (0, 1, 2, 3, 15, 16, 17, 33, 65, 127, 65_537)
DTYPES = (np.bool_, np.int8, np.int16, np.int32, np.int64)
KINDS = ("addi", "subi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
QUOTIENTS = ("divsi", "floordivsi", "remsi")
PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")


def element(dtype: Any) -> IntegerType:
    return IntegerType(1 if dtype is np.bool_ else np.dtype(dtype).itemsize * 8)


def drawn(rng: np.random.Generator, dtype: Any, size: int) -> Array:
    """Every bit pattern, the ends and what is near 0."""
    bits = np.frombuffer(rng.bytes(8 * size), np.int64).astype(dtype)
    if dtype is np.bool_:
        return rng.integers(0, 2, size).astype(bool)
    info = np.iinfo(dtype)
    ends = np.array([info.min, info.min + 1, -1, 0, 1, info.max], dtype)
    return np.where(rng.random(size) < 0.5, bits, rng.choice(ends, size)).astype(dtype)


def plain() -> Iterator[Case]:
    rng = np.random.default_rng(41)
    for given in combinations(
        rng,
        8,
        kind=(*KINDS, *QUOTIENTS, *PREDICATES),
        dtype=DTYPES,
        size=SIZES,
        steps=((1, 1), (0, 1), (1, 0), (0, 0)),
    ):
        kind, dtype = given["kind"], given["dtype"]
        if kind in QUOTIENTS and dtype is np.bool_:
            continue
        a, b = (drawn(rng, dtype, given["size"] if step else 1) for step in given["steps"])
        if kind in QUOTIENTS:  # the sweep divides each by itself too
            a, b = (np.where((each == 0) | (each == -1), 3, each).astype(dtype) for each in (a, b))
        t = element(dtype)
        if kind in PREDICATES:
            function = bind("arith.cmpi", [t, t], [IntegerType(1)], {"predicate": PREDICATES.index(kind)})
        else:
            function = bind(f"arith.{kind}", [t, t], [t])
        yield Case("plain", given, (a, b), lambda a=a, b=b, f=function, n=given["size"]: _spread(f, n, a, b))


def _spread(function: Any, size: int, *operands: Array) -> Array:
    with np.errstate(all="ignore"):
        made: Array = function(*[np.ascontiguousarray(np.broadcast_to(each, (size,))) for each in operands])
    return made


def plain_select() -> Iterator[Case]:
    rng = np.random.default_rng(42)
    for given in combinations(
        rng,
        6,
        dtype=(*DTYPES, np.float32, np.uint8),
        size=SIZES,
        steps=((1, 1, 1), (0, 1, 1), (1, 0, 1), (1, 1, 0), (0, 0, 0)),
    ):
        sizes = [given["size"] if step else 1 for step in given["steps"]]
        dtypes = (np.bool_, np.int32, np.int32)
        condition, a, b = (drawn(rng, dtype, size) for dtype, size in zip(dtypes, sizes, strict=True))
        a, b = a.astype(given["dtype"]), b.astype(given["dtype"])
        yield Case(
            "plain_select", given, (condition, a, b),
            lambda c=condition, a=a, b=b, n=given["size"]: _spread(np.where, n, c, a, b),
        )  # fmt: skip


def plain_cast() -> Iterator[Case]:
    rng = np.random.default_rng(43)
    for given in combinations(rng, 8, dtype=DTYPES, out=DTYPES, size=SIZES, unsigned=(False, True)):
        x, source, target = drawn(rng, given["dtype"], given["size"]), element(given["dtype"]), element(given["out"])
        if source.width == target.width:
            yield Case("plain_cast", given, (x,), lambda x=x: x)
            continue
        name = "extui" if given["unsigned"] else "extsi"
        function = bind(f"arith.{name if source.width < target.width else 'trunci'}", [source], [target])
        yield Case("plain_cast", given, (x,), lambda x=x, f=function, n=given["size"]: _spread(f, n, x))
