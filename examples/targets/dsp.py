"""A DSP that sums products in accumulators of 16 bits, and rescales by shifts: every scale is a power of two."""

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from qrt import ir
from qrt.ir.core.constraints import element_of
from qrt.ir.core.traits import PURE
from qrt.quantization.targets import KernelMatch, RegionCall, Target, match_kernel
from qrt.types import TensorType, UniformType

DEPTH = 16
"""The most products of a sum: with a bias of up to 2^14, 16 products of codes up to 127 and 7 stay below 2^15."""


# -- operations --------------------------------------------------------------------------------------------------------


def run_mac(operation: ir.Operation, compiler: Any) -> Callable[..., Any]:
    """Sum products in 16 bits: the bounds of the ports keep the sums in range, so that no order of them matters."""

    def mac(a: Any, w: Any, *bias: Any) -> Any:
        sums = a.astype(np.int16) @ w.astype(np.int16)
        return sums + bias[0] if bias else sums

    return mac


def run_shift(operation: ir.Operation, compiler: Any) -> Callable[[Any], Any]:
    by, low, high = (operation.attributes[name].python for name in ("by", "low", "high"))
    half = 1 << (by - 1) if by else 0
    return lambda sums: np.clip((sums.astype(np.int64) + half) >> by, low, high).astype(np.int8)


def run_add(operation: ir.Operation, compiler: Any) -> Callable[[Any, Any], Any]:
    low, high = (operation.attributes[name].python for name in ("low", "high"))
    return lambda a, b: np.clip(a.astype(np.int16) + b, low, high).astype(np.int8)


ir.register_dialect(
    "dsp",
    SimpleNamespace(
        OPS=[
            ir.Definition("dsp.mac", operands=("a", "w", "bias?"), results=("sums",), traits={PURE}),
            ir.Definition("dsp.shift", operands=("sums",), results=("y",), traits={PURE}),
            ir.Definition("dsp.add", operands=("a", "b"), results=("y",), traits={PURE}),
        ],
        HANDLERS={"dsp.mac": run_mac, "dsp.shift": run_shift, "dsp.add": run_add},
    ),
)


# -- constraint, pattern and legalizations -----------------------------------------------------------------------------


def power_of_two(inputs: list[Any], outputs: list[Any]) -> tuple[list[int], list[int]]:
    """Increase each scale to a power of two."""
    changed: tuple[list[int], list[int]] = [], []
    for types, numbers in zip((inputs, outputs), changed, strict=True):
        for number, type in enumerate(types):
            if isinstance(type, UniformType) and np.frexp(type.scale)[0] != 0.5:
                types[number] = type.with_(scales=float(np.ldexp(1.0, np.frexp(type.scale)[1])))
                numbers.append(number)
    return changed


def short_sums(value: ir.Value) -> KernelMatch | None:
    """Match a product of matrices whose sums fit 16 bits."""
    match = match_kernel("matmul", value)
    if match is None:
        return None
    weights = match.operands[1][0].type
    depth = weights.shape[0] if isinstance(weights, TensorType) and weights.rank == 2 and weights.shape else None
    is_plain = all(permutation is None for _, permutation in match.operands)
    return match if is_plain and depth is not None and depth <= DEPTH else None


def write_mac(call: RegionCall) -> Sequence[ir.Value]:
    """Write the sums, whose scale is the product of the factors' scales, and the shift to the scale of the result."""
    (result,) = call.results
    a, w = (element_of(operand.type) for operand in call.operands[:2])
    assert isinstance(a, UniformType)
    assert isinstance(w, UniformType)
    scale = a.scale * w.scale
    sums = result.with_(element=UniformType("i16", a.expressed_type, scale))
    low, high = call.bounds
    assert isinstance(result.element, UniformType)
    by = min(round(np.log2(result.element.scale / scale)), 62)  # further shifts give 0 too
    return call.emit("dsp.shift", call.emit("dsp.mac", call.operands, [sums]), [result], by=by, low=low, high=high)


def write_add(call: RegionCall) -> Sequence[ir.Value]:
    low, high = call.bounds
    return call.emit("dsp.add", call.operands, call.results, low=low, high=high)


# -- the target --------------------------------------------------------------------------------------------------------

CODES = "i8<-127:127> symmetric"
TARGET = Target("dsp", ())
TARGET.kernel(
    "dsp.matmul",
    ports={"a": CODES, "w": "i4<-7:7> symmetric", "bias?": "i16<-16384:16383>", "y": CODES},
    constraint=(power_of_two, "multiplier_accumulator_scale"),
    multiplier=(0.0, 1.0),
    pattern=short_sums,
    legalize=write_mac,
)
TARGET.kernel(
    "dsp.add",
    ports={"a": CODES, "b": CODES, "y": CODES},
    constraint=(power_of_two, "same_scale"),
    pattern="add",
    legalize=write_add,
)
