"""The check that a region's body computes what the target's operation for the region's kernel computes."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantError, QuantTypeError
from qrt.ir import Builder, Module, Value
from qrt.ir.core.constraints import with_element
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remarks_to
from qrt.ops import FAMILIES
from qrt.ops.casts import signless
from qrt.ops.core import storage_dtype
from qrt.quantization.checking.names import name_disagreement
from qrt.quantization.checking.regions import LINEAR, RESCALE, PortOf, ports_of
from qrt.quantization.export.export_quant import export_regions
from qrt.quantization.export.legalize import has_own_operation
from qrt.quantization.forms.elements import dense_of
from qrt.quantization.targets.model import Target
from qrt.quantization.targets.patterns import body_match
from qrt.runtime.compilation import compile
from qrt.runtime.program import Program
from qrt.tensor.casts import scast
from qrt.types import TensorType, UniformType

Array = npt.NDArray[Any]

_DYNAMIC = 3
"""The size of dynamic dimensions of drawn values."""
_SPREADS = (1, 4, 16)
"""The divisors of the storage range for drawn values: small values show differences that a clamped result hides."""
_MOST = 1 << 15
"""The largest distance of a drawn storage value from the zero point: f32 bodies cannot sum larger values."""


def disagreement(region: RegionOp, target: Target) -> str | None:
    """Return an error message if a region's body does not compute what its kernel computes; None if it does.

    If the target has an operation of its own for the kernel, both the operation and the body run on random inputs.
    Their results may differ by one storage value. Without such an operation, qrt must recognize the body as the kernel.
    """
    ports = ports_of(region)
    if region.kernel in (RESCALE, LINEAR) or not all(isinstance(port.spec, UniformType) for port in ports):
        return None
    if not has_own_operation(target, region.kernel):
        return name_disagreement(region) or _unrecognized(region, target)
    try:
        programs = [_program(region, ports, target, to) for to in ("fixed", "simulate")]
        for spread in _SPREADS:
            values = _drawn(region, ports, spread)
            by_kernel, by_body = ([_codes(value) for value in _results(program, values)] for program in programs)
            for number, (ours, theirs) in enumerate(zip(by_kernel, by_body, strict=True)):
                if (wrong := _difference(number, ours, theirs)) is not None:
                    return f"{wrong}, for drawn values: a body and its kernel differ by 1 at most"
    except QuantError as error:
        return f"body and kernel cannot be compared on drawn values: {error.args[0] if error.args else error}"
    return None


def _unrecognized(region: RegionOp, target: Target) -> str | None:
    """Return an error message if a region has a kernel of qrt, but qrt does not recognize its body; None otherwise."""
    name = region.kernel
    if name not in FAMILIES or body_match(region.body, name, target) is not None:
        return None
    return (
        f"qrt does not recognize its body as the kernel '{name}', and cannot check that they agree: write the body as "
        "fuse-kernels recognizes it, or write its operations without the region and run fuse-kernels, or give the "
        "region the name of a kernel for which the target has a pattern or an operation of its own"
    )


def _difference(number: int, ours: Array, theirs: Array) -> str | None:
    if ours.shape != theirs.shape:
        return f"the kernel's result {number} has shape {ours.shape}, and the body's {theirs.shape}"
    far = np.argwhere(np.abs(ours - theirs) > 1)
    if not len(far):
        return None
    place = tuple(map(int, far[0]))
    return f"result {number} has code {ours[place]} at {list(place)} by the kernel and {theirs[place]} by the body"


def _program(region: RegionOp, ports: Sequence[PortOf], target: Target, to: str) -> Program:
    """Return a program of one region only, exported as ``to`` (``fixed`` or ``simulate``).

    The inputs of the program are the region's operands that are not constant, and the outputs the quantized results.
    """
    module = Module()
    builder = Builder(module)
    arguments = [port for port in ports if port.is_input and dense_of(port.value) is None]
    types = [with_element(port.value.type, port.spec) for port in arguments]
    with builder.function("main", types) as values:
        given = [values] if isinstance(values, Value) else list(values)
        operands: dict[Value, Value] = {}
        for port, value in zip(arguments, given, strict=True):
            operands[port.value] = builder.value("quant.dcast", (value,), port.value.type)
        for value in region.operands:
            if value not in operands:
                constant = dense_of(value)
                assert constant is not None
                operands[value] = builder.constant(constant, value.type)
        copy = builder.insert(region.clone(operands))
        outputs = [port for port in ports if not port.is_input]
        stored = [
            builder.value("quant.qcast", (value,), with_element(value.type, port.spec))
            for port, value in zip(outputs, copy.results, strict=True)
        ]
        builder.func.return_(*stored)
    with remarks_to(None):
        export_regions(module, to, target)
    module.verify()
    return compile(module)


def _drawn(region: RegionOp, ports: Sequence[PortOf], spread: int) -> list[Any]:
    rng = np.random.default_rng(spread)
    values = []
    for port in ports:
        if not port.is_input or dense_of(port.value) is not None:
            continue
        type, spec = port.value.type, port.spec
        assert isinstance(spec, UniformType)
        if not isinstance(type, TensorType) or type.shape is None:
            raise QuantTypeError(f"{port} must be a ranked tensor")
        shape = tuple(_DYNAMIC if size is None else size for size in type.shape)
        low, high = (
            spec.zero_points[0] + max(-_MOST, min(_MOST, bound - spec.zero_points[0])) // spread
            for bound in (spec.storage_min, spec.storage_max)
        )
        codes = np.clip(rng.integers(low, high + 1, shape), spec.storage_min, spec.storage_max)
        values.append(scast(signless(codes.astype(storage_dtype(spec)), spec), spec))
    return values


def _results(program: Program, values: Sequence[Any]) -> Sequence[Any]:
    results = program(*values)
    return results if isinstance(results, tuple) else (results,)


def _codes(value: Any) -> Array:
    codes: Array = np.asarray(value.storage, np.int64)
    return codes
