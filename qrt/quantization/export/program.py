"""The export of a whole program: each region becomes operations, which pass quantized values to each other."""

from collections.abc import Sequence
from typing import Final

from qrt.errors import QuantTypeError
from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.dialects.quant.element_types import express
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.passes.lower_qrt import LowerQrt
from qrt.ir.remarks import remark
from qrt.quantization.annotations.region_metadata import CAUSE, KEY, put_tags, tags_of
from qrt.quantization.checking.names import name_disagreement
from qrt.quantization.checking.regions import RESCALE, regions_of
from qrt.quantization.export.call_signatures import quantize_signatures
from qrt.quantization.export.casts import Casts
from qrt.quantization.export.kernels import Kernels, Tabulate, family_of
from qrt.quantization.export.legalize import apply_rewrites, has_own_operation, legalize
from qrt.quantization.export.linear import linear_region
from qrt.quantization.export.loop_values import carry
from qrt.quantization.export.ports import FLOAT_MATMUL, PortOf, check_ports, inputs, outputs
from qrt.quantization.export.split import split
from qrt.quantization.export.unfuse_kernels import put_back
from qrt.quantization.forms import form_of
from qrt.quantization.targets.model import Target
from qrt.types import UniformType

LINEAR: Final = "linear"
"""The kernel of regions of any linear operations, which are exported with a single rounding."""
FORMS: Final[Sequence[str]] = ("fixed", "codegen", "simulate")


def export(module: Module, to: str, target: Target | None, tabulate: Tabulate) -> None:
    """Export the regions of a propagated program in the form ``to``: "fixed", "codegen" or "simulate".

    ``tabulate`` computes the tables of `lookup`. Raises VerifyError at a region that cannot be exported, or whose
    kernel a given target lacks.
    """
    express(module)
    every = regions_of(module)
    if not any(KEY in region.attributes for region in every):
        for region in every:
            region.attributes.pop(CAUSE, None)  # reports need keys, so a program without keys needs no causes
    for region in every:
        check_ports(region)
        if target is not None and region.kernel not in (RESCALE, LINEAR) and not target.signatures(region.kernel):
            message = f"of kernel '{region.kernel}' cannot be exported: the target '{target.name}' has no such kernel"
            raise region.op_error(
                f"{message}: run unfuse-kernels{{target={target.name}}} first, which inlines its body"
            )
    casts = Casts()
    kernels = Kernels(casts, tabulate)
    for region in every:
        if to == "simulate":
            put_back(region, casts)
            continue
        try:
            _export(region, kernels, target, has_operations=to == "fixed")
        except QuantTypeError as error:
            raise region.op_error(f"of kernel '{region.kernel}' cannot be exported: {error}") from None
    casts.finish()
    if to != "simulate":
        carry(module)
        while quantize_signatures(module):
            carry(module)
    if to == "fixed" and target is not None:
        apply_rewrites(module, target)
    if to == "codegen":
        lower = LowerQrt()
        remaining = {*module.operation.walk()}  # the steps above may have erased operations
        for op in casts.operations:
            if op in remaining:
                _lower(lower, op)


def _lower(lower: LowerQrt, op: Operation) -> None:
    """Lower a `qrt` operation to integer code, and copy its metadata attributes to the operation with the result."""
    tags, uses = tags_of(op), list(op.results[0].uses)
    lower.lower(op)
    if tags and uses:
        user, index = uses[0]
        put_tags(user.operands[index].operation, tags)


def _export(region: RegionOp, kernels: Kernels, target: Target | None, *, has_operations: bool) -> None:
    """Export a region as `qrt` operations, as integer arithmetic, or as its float body if a port is float.

    If ``has_operations`` is True, operations that the target registers for the region's kernel take precedence.
    """
    floats = [port for port in (*inputs(region), *outputs(region)) if not isinstance(port.spec, UniformType)]
    if region.kernel == RESCALE and not floats:
        kernels.casts.release(region, [_rescaled(region, kernels)])
        return
    if has_operations and target is not None and not floats and has_own_operation(target, region.kernel):
        kernels.casts.release(region, legalize(region, target, kernels.casts))
        return
    if (wrong := name_disagreement(region)) is not None:
        raise QuantTypeError(wrong)
    form = None if region.kernel == LINEAR else form_of(region.body, region.kernel)
    if form is not None and family_of(region, form) == FLOAT_MATMUL:
        floats = []
    if floats:
        _remark_floats(region, floats)
        put_back(region, kernels.casts)
    elif form is not None:
        kernels.casts.release(region, [kernels.region(region, form)])
    elif region.kernel == LINEAR or not _split(region, kernels):
        remark(region, f"kernel '{region.kernel}' has no op of qrt: its body becomes integer arithmetic")
        stored = [kernels.casts.stored(port.value, _quantized(port)) for port in inputs(region)]
        elements = [_quantized(port) for port in outputs(region)]
        kernels.casts.release(region, linear_region(region, stored, elements, lambda message: remark(region, message)))


def _split(region: RegionOp, kernels: Kernels) -> bool:
    """Export a region as several `qrt` operations if its body can be split. Return True on success."""
    name = region.kernel
    parts = split(region)
    for part, form in parts or ():
        kernels.casts.release(part, [kernels.region(part, form)])
    if parts:
        remark(region, f"kernel '{name}' becomes {len(parts)} ops of qrt")
    return bool(parts)


def _quantized(port: PortOf) -> UniformType:
    assert isinstance(port.spec, UniformType)  # the caller has checked
    return port.spec


def _rescaled(region: RegionOp, kernels: Kernels) -> Value:
    (source,), (result,) = inputs(region), outputs(region)
    assert isinstance(source.spec, UniformType)  # the caller has checked
    assert isinstance(result.spec, UniformType)
    stored = kernels.casts.stored(source.value, source.spec)
    return kernels.requantized(Builder(region), stored, result.spec)


def _remark_floats(region: RegionOp, floats: Sequence[PortOf]) -> None:
    if region.kernel != RESCALE and not all(port.is_float for port in floats):
        port = next(port for port in floats if not port.is_float)
        remark(region, f"kernel '{region.kernel}' stays in floats: {port.name} is {port.spec}")
