"""Decoded values of saved programs, changed: kinds, lengths, names, dtypes, numbers, and the contents of arrays."""

from collections.abc import Callable
from contextlib import suppress
from math import prod
from random import Random
from typing import Any

import numpy as np

from qrt import kernels
from qrt.errors import QuantError
from qrt.numerics import RequantParameters
from qrt.runtime.saved.entry_table import ENTRIES, bind_call
from tests.runtime.saved.crafted import DtypeName, Fields, Index, OneCall, decoded

_INTERFACE = {"data": (4096, False), "shape": (8,), "typestr": "|i1", "version": 3}
_NUMBERS = (0, 1, -1, 2, 3, 7, 8, 63, 64, 65, 127, 128, 255, 256, 1 << 15, 1 << 16, 1 << 20, (1 << 31) - 1, 1 << 31,
            (1 << 32) - 1, 1 << 32, 1 << 39, 1 << 40, (1 << 40) + 1, 1 << 48, 1 << 61, 1 << 62, (1 << 63) - 1,
            -2, -128, -(1 << 31), -(1 << 40), -(1 << 62), -(1 << 63))  # fmt: skip
_DTYPES = ("?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8")
_DTYPE_NAMES = ("O", "S8", "U2", "V16", "M8[s]", ">i4", "<c8", "i4,i4", "(2,)i4", "|b1", "bfloat16", "float8_e4m3fn",
                "int4", "iinfo", "object", "")  # fmt: skip
_WORDS = ("", "i8", "u8", "i16", "i32", "u32", "i64", "f32", "bf16", "operand", "fixed", "float32", "dequantized",
          "ref", "avx2", "add", "mul", "prelu", "table", "round", "unless", "jump", "tensor<2xi32>", "tensor<?xf32>",
          "tensor<1099511627776xi8>", "tensor<4x!quant.uniform<i8:f32, 0.5>>", "tensor<*xf32>", "i32",
          "__array_interface__", "__class__", "p0", "x" * 300, "bind_none")  # fmt: skip
_MOST_BOUND = 1 << 20
_NAMES = ("__array_interface__", "__array__", "__class__", "__dict__", "isa", "stored", "shape", "dtype", "zero_point")


def changed(index: Index, draw: Random) -> Index:
    """The values with one to three changes, most of them in a call."""
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        at = _place(index, draw)
        index = _replaced(index, at, _other(_value(index, at), index, draw))
    return index if isinstance(index, dict) else {"name": index}


def bound(one: OneCall, draw: Random) -> Index:
    """A program of a call with other arguments, whose operands are those that the arguments ask for; where they are
    refused, the operands stay."""
    arguments = decoded(one.arguments)
    for _ in range(draw.choice((1, 1, 2))):
        at = _place(arguments, draw)
        value = _value(arguments, at)
        if isinstance(value, bool):
            other: Any = not value
        elif isinstance(value, int):
            other = draw.choice((_held(value - 1), _held(value + 1), 0, 1, 2, 3, 5, 8, 17, 33, 64))
        elif isinstance(value, str):
            other = draw.choice(_WORDS)
        else:
            other = _other(value, arguments, draw)
        arguments = _replaced(arguments, at, other)
    with suppress(QuantError, ValueError, TypeError, LookupError, ArithmeticError, MemoryError):
        call = bind_call(one.name, arguments, kernels.active(), None)
        if sum(map(prod, call.operand_shapes)) < _MOST_BOUND:
            return OneCall(one.name, arguments, call).index()
    changed_index: Index = _replaced(one.index(), ("plans", 0, "calls", 0, 1), arguments)
    return changed_index


def _fields(value: Any) -> Any:
    """Values by name or number, in which another one can be put."""
    return (
        dict(vars(value))
        if isinstance(value, RequantParameters)
        else tuple(value)
        if isinstance(value, list)
        else value
    )


def _place(value: Any, draw: Random) -> tuple[Any, ...]:
    """A place of any depth, drawn at each level: the keys that lead to it."""
    at: list[Any] = []
    while True:
        value = _fields(value)
        keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, tuple) else ()
        if not keys or (at and draw.random() < 0.1):
            return tuple(at)
        if not at and draw.random() < 0.8 and "plans" in keys:
            key = "plans"
        elif "calls" in keys and draw.random() < 0.6:
            key = "calls"
        else:
            key = draw.choice(list(keys))
        at.append(key)
        value = value[key]


def _value(value: Any, at: tuple[Any, ...]) -> Any:
    for key in at:
        value = _fields(value)[key]
    return _fields(value)


def _replaced(value: Any, at: tuple[Any, ...], new: Any) -> Any:
    if not at:
        return new
    value, key = _fields(value), at[0]
    inner = _replaced(value[key], at[1:], new)
    if isinstance(value, dict):
        return type(value)({**value, key: inner})
    return (*value[:key], inner, *value[key + 1 :])


def _other(value: Any, index: Index, draw: Random) -> Any:
    """Another value of the same kind mostly; else one of any kind, or one from elsewhere in the file."""
    chance = draw.random()
    if chance < 0.15:
        return draw.choice(_ANY)(draw)
    if chance < 0.3:
        return _value(index, _place(index, draw))
    for kind, change in _CHANGES:
        if isinstance(value, kind):
            return change(value, draw)
    return draw.choice(_ANY)(draw)


def _held(value: int) -> int:
    """The nearest number of 64 bits."""
    return max(-(1 << 63), min((1 << 63) - 1, value))


def _number(value: int, draw: Random) -> Any:
    chance = draw.random()
    if chance < 0.1:
        return np.array(value, draw.choice(("i8", "f8")))
    if chance < 0.2:
        return draw.choice((float(value), bool(value), str(value)))
    if chance < 0.6:
        return _held(value + draw.choice((-64, -8, -2, -1, 1, 2, 3, 8, 64)))
    return draw.choice(_NUMBERS)


def _items(value: tuple[Any, ...], draw: Random) -> Any:
    chance = draw.random()
    if chance < 0.3:
        return value[: draw.randrange(len(value) + 1)]
    if chance < 0.5:
        return (*value, *(value[-1:] or (0,)) * draw.choice((1, 1, 2, 5, 40)))
    if chance < 0.6 and value:
        at = draw.randrange(len(value))
        return value[:at] + value[at + 1 :]
    if chance < 0.7:
        return tuple(draw.sample(value, len(value)))
    if chance < 0.85 and value and all(type(each) is int for each in value):
        return tuple(np.array(each, "i8") for each in value)
    return (draw.choice(_NUMBERS),) * draw.choice((len(value), 1, 2, 3, 4))


def _named(value: dict[str, Any], draw: Random) -> Any:
    keys, chance = list(value), draw.random()
    if chance < 0.3 and keys:
        gone = draw.choice(keys)
        return {key: each for key, each in value.items() if key != gone}
    if chance < 0.5:
        return {**value, draw.choice(_NAMES): draw.choice(_ANY)(draw)}
    if chance < 0.7 and keys:
        one, other = draw.choice(keys), draw.choice(keys)
        return {**value, one: value[other], other: value[one]}
    return Fields(value) if chance < 0.8 else Fields(__array_interface__=_INTERFACE)


def _array(value: np.ndarray[Any, Any], draw: Random) -> Any:
    chance = draw.random()
    if chance < 0.3 and value.size and value.dtype.kind in "iu":
        info, other = np.iinfo(value.dtype), value.copy()
        near = int(other.flat[0]) + draw.choice((-1, 1, 100))
        number = max(info.min, min(info.max, draw.choice((*_NUMBERS, near))))
        if draw.random() < 0.5:
            other[...] = number
        else:
            other.flat[draw.randrange(other.size)] = number
        return other
    if chance < 0.45 and value.size and value.dtype.kind == "f":
        other = value.copy()
        other.flat[draw.randrange(other.size)] = draw.choice((0.0, -1.0, 1e38, 1e-45, np.inf, -np.inf, np.nan))
        return other
    if chance < 0.6:
        return value.reshape(-1)[: draw.randrange(value.size + 1)]
    if chance < 0.7:
        return np.resize(value, draw.choice(((), (value.size, 1), (value.size + 1,), (2 * value.size,))))
    if chance < 0.9:
        with np.errstate(all="ignore"):
            return value.astype(draw.choice(_DTYPES))
    few = value.reshape(-1)[:5]
    return tuple((few.astype("i8") if few.dtype.kind == "u" else few).tolist())


def _text(value: str, draw: Random) -> Any:
    chance = draw.random()
    if chance < 0.4:
        return draw.choice(_WORDS)
    if chance < 0.7:
        return draw.choice(list(ENTRIES)) if value.startswith("bind_") else value[: draw.randrange(len(value) + 1)]
    return draw.choice(_WORDS) + value


def _dtype(_value: Any, draw: Random) -> Any:
    return np.dtype(draw.choice(_DTYPES)) if draw.random() < 0.5 else DtypeName(draw.choice(_DTYPE_NAMES))


_CHANGES: tuple[tuple[Any, Callable[[Any, Random], Any]], ...] = (
    (bool, lambda value, draw: draw.choice((not value, int(value), None, 1.0))),
    (int, _number),
    (float, lambda value, draw: draw.choice((-value, 0.0, 1e308, float("inf"), float("nan"), 1e-45, 1))),
    (str, _text),
    (tuple, _items),
    (dict, _named),
    (np.ndarray, _array),
    (np.dtype | type, _dtype),
)
_ANY: tuple[Callable[[Random], Any], ...] = (
    lambda draw: None,
    lambda draw: draw.choice(_NUMBERS),
    lambda draw: draw.choice(_WORDS),
    lambda draw: draw.choice((True, False, 1.5, float("nan"))),
    lambda draw: np.array(draw.choice((0, 1, 64)), draw.choice(_DTYPES)),
    lambda draw: np.zeros(draw.choice((0, 1, 4, 64)), draw.choice(_DTYPES)),
    lambda draw: DtypeName(draw.choice(_DTYPE_NAMES)),
    lambda draw: np.dtype(draw.choice(_DTYPES)),
    lambda draw: Fields(__array_interface__=_INTERFACE),
    lambda draw: {"__array_interface__": _INTERFACE},
    lambda draw: (),
    lambda draw: ((),) * draw.choice((1, 2, 4)),
    lambda draw: (np.array(draw.choice((1, 64)), "i8"),) * draw.choice((1, 2, 3, 4)),
)
