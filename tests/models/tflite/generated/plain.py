"""Operators of plain integers, floats and bools. Hazards: sums that wrap; quotients and rests of numbers with either
sign; floats far apart and halves that are rounded; casts that cut bits off; operands that are broadcast or constant."""

from functools import partial

import numpy as np

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

_RUNS = 4
_CASTS = ("bool", "int8", "uint8", "int16", "int32", "int64", "float32")


def _values(rng, shape, dtype, nonzero=False, positive=False, most=None):
    """Numbers of any size: small ones mostly, so that they meet each other."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype == "float32":
        found = rng.normal(size=shape) * 2.0 ** rng.integers(-6, 7, shape)
        found = np.where(rng.random(shape) < 0.2, np.round(found * 2) / 2, found)
        found = np.abs(found) + 2.0**-20 if positive else found
        found = found if most is None else np.clip(found, -most, most)
        return np.where((found == 0) & nonzero, 1, found).astype(dtype)
    info = np.iinfo(dtype)
    found = rng.integers(info.min + 1, info.max, shape, dtype=dtype, endpoint=True)
    found = np.where(rng.random(shape) < 0.7, found >> rng.integers(0, info.bits - 1, shape).astype(dtype), found)
    return np.where((found == 0) & nonzero, 1, found).astype(dtype)


def _case(rng, name, dtypes, result, shapes, options=None, known=(), ulp=4, **drawn):
    """A model of one operator, and inputs of several runs."""
    tensors = [
        Tensor(shape, dtype, data=_values(rng, shape, dtype, **drawn) if number in known else None)
        for number, (shape, dtype) in enumerate(zip(shapes, dtypes, strict=True))
    ]
    shape = np.broadcast_shapes(*shapes)
    content = one_op(name, tensors, [Tensor(shape, result)], options or {}, version=1)
    given = [tensor for tensor in tensors if tensor.data is None]
    runs = [[_values(rng, tensor.shape, tensor.dtype, **drawn) for tensor in given] for _ in range(_RUNS)]
    return Case(content, runs, ulp)


def binary(rng, name, dtype, result=None, **drawn):
    full = draw.shape(rng)
    other = tuple(1 if rng.random() < 0.3 else extent for extent in full)[int(rng.integers(len(full))) :]
    shapes = [full, other if rng.random() < 0.5 else full]
    if rng.random() < 0.5:
        shapes.reverse()
    known = (1,) if rng.random() < 0.3 else ()
    return _case(rng, name, [dtype] * 2, result or dtype, shapes, known=known, **drawn)


def stablehlo(rng, name, dtype):
    """Operands of the same shape."""
    shape = draw.shape(rng)
    return _case(rng, name, [dtype] * 2, dtype, [shape, shape], known=(1,) if rng.random() < 0.3 else ())


def shift_left(rng, dtype):
    full = draw.shape(rng)
    runs = [[_values(rng, full, dtype), rng.integers(0, 32, full).astype(dtype)] for _ in range(_RUNS)]
    return Case(one_op("STABLEHLO_SHIFT_LEFT", [Tensor(full, dtype), Tensor(full, dtype)], [Tensor(full, dtype)]), runs)


def unary(rng, name, dtype="float32", **drawn):
    return _case(rng, name, [dtype], dtype, [draw.shape(rng)], **drawn)


def cast(rng, given, wanted):
    options = {"in_data_type": given.upper(), "out_data_type": wanted.upper()}
    most = 127 if given == "float32" else None  # beyond what the result holds it is left to the processor
    return _case(rng, "CAST", [given], wanted, [draw.shape(rng)], options, most=most)


def select(rng, dtype):
    full = draw.shape(rng)
    shapes = [tuple(1 if rng.random() < 0.2 else extent for extent in full) for _ in range(2)]
    return _case(rng, "SELECT_V2", ["bool", dtype, dtype], dtype, [*shapes, full])


def broadcast_to(rng, dtype):
    full = draw.shape(rng)
    x = Tensor(tuple(1 if rng.random() < 0.4 else extent for extent in full), dtype)
    sizes = Tensor((len(full),), "int32", data=full)
    runs = [[_values(rng, x.shape, dtype)] for _ in range(_RUNS)]
    return Case(one_op("BROADCAST_TO", [x, sizes], [Tensor(full, dtype)], {}, version=2), runs)


def add_n(rng, dtype):
    full = draw.shape(rng)
    count = int(rng.integers(2, 5))
    return _case(rng, "ADD_N", [dtype] * count, dtype, [full] * count)


def cumsum(rng, dtype):
    full = draw.shape(rng)
    axis = int(rng.integers(-len(full), len(full)))
    x, along = Tensor(full, dtype), Tensor((), "int32", data=axis)
    options = {"exclusive": bool(rng.integers(2)), "reverse": bool(rng.integers(2))}
    runs = [[_values(rng, full, dtype)] for _ in range(_RUNS)]
    return Case(one_op("CUMSUM", [x, along], [Tensor(full, dtype)], options), runs)


def reduced(rng, name, dtype):
    """Floats near 1, so that products stay finite."""
    full = draw.shape(rng, int(rng.integers(2, 5)), 60_000)
    axes = [int(axis) for axis in rng.permutation(len(full))[: int(rng.integers(1, len(full) + 1))]]
    keeps = bool(rng.integers(2))
    out = tuple(1 if d in axes else n for d, n in enumerate(full) if keeps or d not in axes)
    said = [axis - len(full) if rng.random() < 0.3 else axis for axis in axes]
    content = one_op(
        name,
        [Tensor(full, dtype), Tensor((len(said),), "int32", data=said)],
        [Tensor(out, dtype)],
        {"keep_dims": keeps},
    )
    runs = [[_values(rng, full, dtype)] for _ in range(_RUNS)]
    if dtype == "float32":
        runs = [[(1 + rng.normal(size=full) * 2.0**-10).astype(dtype)] for _ in range(_RUNS)]
    return Case(content, runs)


def arc_tangent(rng):
    full = draw.shape(rng)
    return _case(rng, "ATAN2", ["float32"] * 2, "float32", [full, full])


def shift(rng, dtype):
    full = draw.shape(rng)
    tensors = [Tensor(full, dtype), Tensor(full, dtype)]
    low = 0 if dtype[0] == "u" else -3
    runs = [[draw.integers(rng, full, dtype), rng.integers(low, 40, full).astype(dtype)] for _ in range(_RUNS)]
    return Case(one_op("RIGHT_SHIFT", tensors, [Tensor(full, dtype)]), runs)


def bitcast(rng, given, wanted):
    full = draw.shape(rng)
    runs = [[_values(rng, full, given)] for _ in range(_RUNS)]
    return Case(one_op("BITCAST", [Tensor(full, given)], [Tensor(full, wanted)]), runs)


def stored_division(rng, name, dtype):
    """Of quantized tensors, whose storage is divided, whatever their types say. LiteRT's quotient of the least integer
    and -1 depends on where that stands."""
    full = draw.shape(rng)
    tensors = [draw.tensor(rng, full, dtype) for _ in range(3)]
    least = np.iinfo(dtype).min + 1
    runs = [[draw.integers(rng, full, dtype, least), draw.integers(rng, full, dtype)] for _ in range(_RUNS)]
    runs = [[a, np.where(b == 0, -1, b).astype(dtype)] for a, b in runs]
    return Case(one_op(name, tensors[:2], tensors[2:], {}, version=2), runs)


_DIVIDING = ("DIV", "FLOOR_DIV", "FLOOR_MOD")
_FUNCTIONS = ("ABS", "NEG", "FLOOR", "CEIL", "ROUND", "SIN", "COS", "TANH", "SQUARE")
ONLY = dict.fromkeys(
    (
        "CEIL float32",
        "ROUND float32",
        "STABLEHLO_AND int16",
        "STABLEHLO_AND bool",
        *(f"STABLEHLO_SHIFT_LEFT {dtype}" for dtype in ("int8", "int16", "int32")),
    ),
    ("litert",),
)  # the reference kernels lack them
CASES = {
    **{
        f"{name} {dtype}": partial(binary, name=name, dtype=dtype, nonzero=name in _DIVIDING)
        for name in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "FLOOR_DIV", "FLOOR_MOD")
        for dtype in ("int32", "int64", "float32")
        if (name, dtype) != ("FLOOR_DIV", "int64")
    },
    **{
        f"{name} {dtype}{label}": partial(function, name=name, dtype=dtype, **options)
        for name in ("FLOOR_DIV", "FLOOR_MOD")
        for dtype in ("int8", "int16")
        for label, function, options in (("", binary, {"nonzero": True}), (", quantized", stored_division, {}))
    },
    **{f"DIV {dtype}": partial(binary, name="DIV", dtype=dtype, nonzero=True) for dtype in ("int32", "float32")},
    **{
        f"SQUARED_DIFFERENCE {dtype}": partial(binary, name="SQUARED_DIFFERENCE", dtype=dtype)
        for dtype in ("int32", "float32")
    },
    **{
        f"{name} {dtype}": partial(binary, name=name, dtype=dtype, result="bool")
        for name in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
        for dtype in ("int32", "int64", "float32")
    },
    "ATAN2 float32": arc_tangent,
    **{
        f"STABLEHLO_{name} {dtype}": partial(stablehlo, name=f"STABLEHLO_{name}", dtype=dtype)
        for name, dtypes in (
            *((name, ("int8", "int32", "float32")) for name in ("ADD", "MAXIMUM", "MINIMUM", "MULTIPLY")),
            ("AND", ("int16", "bool")),
        )
        for dtype in dtypes
    },
    **{f"STABLEHLO_SHIFT_LEFT {dtype}": partial(shift_left, dtype=dtype) for dtype in ("int8", "int16", "int32")},
    "BITWISE_XOR int32": partial(binary, name="BITWISE_XOR", dtype="int32"),
    "BITWISE_XOR uint8": partial(binary, name="BITWISE_XOR", dtype="uint8"),
    **{f"RIGHT_SHIFT {dtype}": partial(shift, dtype=dtype) for dtype in ("int8", "uint8", "int16", "int32", "uint32")},
    **{f"BITCAST {given} to {wanted}": partial(bitcast, given=given, wanted=wanted)
       for given, wanted in (("float32", "int32"), ("int32", "float32"), ("int8", "uint8"))},
    **{f"CUMSUM {dtype}": partial(cumsum, dtype=dtype) for dtype in ("int32", "int64", "float32")},
    **{f"{name} {dtype}": partial(reduced, name=name, dtype=dtype)
       for name in ("SUM", "MEAN", "REDUCE_PROD") for dtype in ("int32", "int64")},
    "REDUCE_PROD float32": partial(reduced, name="REDUCE_PROD", dtype="float32"),
    **{name: partial(binary, name=name, dtype="bool") for name in ("LOGICAL_AND", "LOGICAL_OR")},
    "LOGICAL_NOT": partial(unary, name="LOGICAL_NOT", dtype="bool"),
    **{f"{name} float32": partial(unary, name=name) for name in _FUNCTIONS},
    "EXP float32": partial(unary, name="EXP", most=80.0, ulp=64),
    "SIN float32": partial(unary, name="SIN", ulp=64),
    **{f"{name} float32": partial(unary, name=name, positive=True) for name in ("SQRT", "RSQRT", "LOG")},
    **{f"SIGN {dtype}": partial(unary, name="SIGN", dtype=dtype) for dtype in ("int32", "float32")},
    **{f"ADD_N {dtype}": partial(add_n, dtype=dtype) for dtype in ("int32", "float32")},
    "RELU_0_TO_1 float32": partial(unary, name="RELU_0_TO_1"),
    **{f"CAST {given} to {wanted}": partial(cast, given=given, wanted=wanted) for given in _CASTS for wanted in _CASTS
       if given != wanted and (given, wanted[:4]) != ("float32", "uint")},
    **{f"SELECT_V2 {dtype}": partial(select, dtype=dtype) for dtype in ("int8", "int32", "int64", "float32", "bool")},
    **{f"BROADCAST_TO {dtype}": partial(broadcast_to, dtype=dtype) for dtype in ("int8", "int32", "float32")},
}  # fmt: skip
