"""The eager API: calls of public functions with valid and hostile arguments, on every ISA and by the plain references.

A case is a Python expression of few forms: `matmul(q("4x0", "!quant.uniform<i8:f32, 0.5>", 1), ...)`.
"""

import ast
import contextlib
import math
import re
from collections.abc import Iterator
from types import EllipsisType
from typing import Any

import numpy as np

import qrt
from qrt import kernels
from qrt.errors import QuantError
from qrt.kernels import forced_isa
from qrt.ops.core import OpFamily, ReferenceCall, storage_dtype
from qrt.tensor import storage as kept_storage
from qrt.types import Type, UniformType, parse_type
from tests.fuzz.kinds.eager_hints import check_hint
from tests.fuzz.kinds.eager_words import METHODS, NUMPY, WORDS
from tests.fuzz.kinds.programs import same
from tests.fuzz.outcome import Finding, check_message, is_outside, is_refusal
from tests.oracle.draw_types import Draw
from tests.oracle.execution.draw_values import array

REFERENCE = "reference"
"""In place of an ISA: every call runs its family's reference."""
LARGEST = 1 << 14
"""Elements of an operand."""


# -- the words of a case ---------------------------------------------------------------------------------------------


def q(shape: str, type: str, seed: int = 0, layout: str = "C") -> qrt.QuantTensor:
    """A tensor with drawn storage: ends of the range and zero points are frequent."""
    t = _quantized(type)
    if not isinstance(t, UniformType):
        raise SyntaxError(f"{t} is no type of a tensor")
    rng, sizes = np.random.default_rng(_seed(seed)), _sizes(shape)
    values = rng.integers(t.storage_min, t.storage_max, sizes, np.int64, endpoint=True)
    ends = np.clip([t.storage_min, t.storage_max, t.zero_points[0]], t.storage_min, t.storage_max)
    values = np.where(rng.random(sizes) < 0.3, rng.choice(ends, sizes), values)
    tensor = qrt.QuantTensor(np.asarray(values, storage_dtype(t)), t)
    if layout not in _LAYOUTS:
        raise SyntaxError(f"no layout {layout!r}")
    if layout == "packed":
        return qrt.pack(tensor)
    if layout == "transposed":
        return tensor.transpose().copy().transpose()
    if layout == "strided" and sizes and t.axis is None and not t.is_sub_channel:
        wide = qrt.QuantTensor(np.repeat(values, 2, 0), t)
        return wide[::2]
    return tensor


def a(shape: str, dtype: str, seed: int = 0, layout: str = "C") -> Any:
    """An array with drawn values: infinities, NaNs, subnormals and ties among floats."""
    sizes, draw = _sizes(shape), Draw(str(_seed(seed)), noise=0)
    if dtype not in _DTYPES or layout not in _LAYOUTS:
        raise SyntaxError(f"no dtype {dtype!r} or layout {layout!r}")
    if dtype in ("f16", "bf16", "f32", "f64"):
        values = array(draw, dtype, sizes).array()
    else:
        values = np.array([draw.choice((0, 1, -1, 127, -128, 255, 2)) for _ in range(math.prod(sizes))]).astype(dtype)
        values = values.reshape(sizes)
    if layout == "swapped":
        return values.astype(values.dtype.newbyteorder())
    if layout == "transposed":
        return np.asfortranarray(values)
    if layout == "strided" and sizes:
        return np.repeat(values, 2, 0)[::2]
    return values


_DTYPES = ("f16", "bf16", "f32", "f64", "int8", "uint8", "int16", "int32", "int64", "bool", "object", "complex64")
_LAYOUTS = ("C", "packed", "transposed", "strided", "swapped")


def _sizes(shape: object) -> tuple[int, ...]:
    if not isinstance(shape, str) or not re.fullmatch(r"(\d{1,5}(x\d{1,5}){0,11})?", shape):
        raise SyntaxError(f"no shape {shape!r}")
    sizes = tuple(int(part) for part in shape.split("x") if part)
    if math.prod(sizes) > LARGEST:
        raise SyntaxError(f"{shape} is no shape for a test")
    return sizes


def _seed(seed: object) -> int:
    if type(seed) is not int or not 0 <= seed < 2**32:
        raise SyntaxError(f"no seed {seed!r}")
    return seed


def _quantized(text: object) -> Type:
    if not isinstance(text, str):
        raise SyntaxError(f"no type {text!r}")
    return parse_type(text)


FUNCTIONS = (
    "add", "avg_pool2d", "clamp", "concat", "conv2d", "dcast", "depthwise_conv2d", "float_matmul", "lookup", "matmul",
    "max_pool2d", "mean", "mul", "pack", "pad", "qcast", "quantize", "relu", "requantize", "reshape", "scast",
    "softmax",
    "sub", "transpose", "bias_type", "QuantTensor", "UniformType", "TensorType", "parse_type",
)  # fmt: skip
_NAMES: dict[str, Any] = {name: getattr(qrt, name) for name in FUNCTIONS} | WORDS | {
    "q": q, "a": a, "t": _quantized, "inf": math.inf, "nan": math.nan, "np_int": np.int64, "np_float": np.float32,
    "asarray": np.asarray, "object": object,
    "slice": slice, "repr": repr, "len": len, "float": float,
}  # fmt: skip
_NODES: tuple[type[ast.AST], ...] = (
    ast.Expression, ast.Call, ast.Name, ast.Load, ast.Constant, ast.List, ast.Tuple, ast.keyword, ast.UnaryOp, ast.USub,
    ast.Attribute, ast.Subscript, ast.Slice, ast.BinOp, ast.MatMult, ast.Add, ast.Sub, ast.Mult, ast.Compare, ast.Eq,
    ast.Lt, ast.GtE, ast.NotEq, ast.Div, ast.Pow, ast.Mod, ast.FloorDiv, ast.Not,
)  # fmt: skip


def evaluate(case: str) -> Any:
    """The value of a case. SyntaxError where it is not of these forms: nothing else of Python is reached."""
    tree = ast.parse(case.strip(), mode="eval")
    for node in ast.walk(tree):
        if not isinstance(node, _NODES) or (isinstance(node, ast.Attribute) and node.attr not in METHODS):
            raise SyntaxError(f"{type(node).__name__} is no part of a case")
        if isinstance(node, ast.Name) and node.id not in _NAMES:
            raise SyntaxError(f"no {node.id}")
        if isinstance(node, ast.BinOp) and any(isinstance(side, ast.Constant) for side in (node.left, node.right)):
            raise SyntaxError("numbers and texts of any length")
        if isinstance(node, ast.Constant) and isinstance(node.value, EllipsisType | complex | bytes):
            raise SyntaxError("no such constant")
    return eval(compile(tree, "<case>", "eval"), {}, _NAMES)


# -- checking --------------------------------------------------------------------------------------------------------


def check(case: str) -> str:
    """The same bits, or an error of one type, from every ISA and from the references."""
    try:
        ast.parse(case.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return "no expression"
    outcomes = {name: _on(name, case) for name in (*kernels.available(), REFERENCE)}
    label, first = outcomes["ref"]
    for name, (other, value) in outcomes.items():
        if other != label or not _equal(first, value):
            what = (
                "one is refused"
                if other != label
                else "bits differ"
                if not _equal(first, value, True)
                else "NaNs differ"
            )
            called = case.strip().partition("(")[0]
            raise Finding(f"{what}: {called}, ref and {name}", f"{str(first)[:1500]}\n{str(value)[:1500]}")
    return label


def _on(isa: str, case: str) -> tuple[str, Any]:
    """A label, and the value or the error's type."""
    try:
        with _reference() if isa == REFERENCE else kernels.use(isa):
            return "value", _plain(evaluate(case))
    except SyntaxError:
        return "no expression", None
    except Exception as error:
        if is_refusal("eager", error):
            check_message(error)
            if isa == "ref" and isinstance(error, QuantError):
                check_hint(case, error, evaluate, NUMPY)
            return "refused", type(error).__name__
        if is_outside(error):  # an attribute of a number, a conversion that NumPy refuses
            return "no expression", None
        raise


def _plain(value: Any) -> Any:
    """The value, where it is an array; else what it shows. A tensor's storage lies within its bounds."""
    if isinstance(value, qrt.QuantTensor):
        storage, t = value.storage, value.type
        if storage.size and not (t.storage_min <= storage.min() and storage.max() <= t.storage_max):
            raise Finding("storage beyond its bounds", repr(storage))
        return storage
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O":
        return value
    return re.sub(r" at 0x\w+", "", repr(value))


def _equal(a: Any, b: Any, any_nan: bool = False) -> bool:
    """The same bits, or the same but for which NaN it is."""
    if not isinstance(a, np.ndarray | np.generic) or not isinstance(b, np.ndarray | np.generic):
        return type(a) is type(b) and a == b
    if any_nan:
        return same(a, b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@contextlib.contextmanager
def _reference() -> Iterator[None]:
    """Every call runs its family's reference; what packs bits, which is no family, runs on `ref`."""
    bits, call = kept_storage._bits_call, OpFamily.call

    def plain(family: OpFamily, types: Any, result: Any, attributes: Any, constants: Any = None) -> Any:
        results = result if isinstance(result, tuple) else (result,)
        return ReferenceCall(family, types, results, attributes, constants or {}), False

    token = forced_isa.set(REFERENCE)
    OpFamily.call, kept_storage._bits_call = plain, lambda _, *given: bits("ref", *given)  # type: ignore[assignment, method-assign]
    try:
        yield
    finally:
        forced_isa.reset(token)
        OpFamily.call, kept_storage._bits_call = call, bits  # type: ignore[assignment, method-assign]
