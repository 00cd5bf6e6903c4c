"""The export of a whole program: every region becomes ops, and edges between regions carry quantized values."""

from collections.abc import Sequence
from typing import Final

from qrt.calibrate.targets.registry import find
from qrt.errors import QuantTypeError
from qrt.ir import Module, Operation, Value
from qrt.ir.core.rewrite import Builder
from qrt.passes.lower_qrt import LowerQrt
from qrt.passes.quantization.export.bodies import put_back
from qrt.passes.quantization.export.casts import Casts
from qrt.passes.quantization.export.kernels import Kernels, Tabulate, family_of
from qrt.passes.quantization.export.linear import linear_region
from qrt.passes.quantization.export.ports import (
    FLOAT_MATMUL,
    RESCALE,
    PortOf,
    check_ports,
    inputs,
    kernel,
    outputs,
    regions,
)
from qrt.passes.quantization.export.split import split
from qrt.passes.quantization.forms import form_of
from qrt.passes.remarks import remark
from qrt.types import UniformType

LINEAR: Final = "linear"
"""The kernel of all linear ops between others, which is one sum to the end."""
FORMS: Final[Sequence[str]] = ("fixed", "codegen", "simulate")


def export(module: Module, to: str, target: str, tabulate: Tabulate) -> None:
    """Rewrites the regions of a propagated program. Raises VerifyError at a region that cannot be."""
    every = list(regions(module))
    known = find(target) if target else None
    for region in every:
        check_ports(region)
        if known is not None and kernel(region) != RESCALE and not known.signatures(kernel(region)):
            said = f"the target '{target}' has no kernel '{kernel(region)}'"
            raise region.op_error(f"{said}: unfuse-kernels=target={target} puts the body back")
    casts = Casts()
    kernels = Kernels(casts, tabulate)
    for region in every:
        if to == "simulate":
            put_back(region, casts)
            continue
        try:
            _export(region, kernels)
        except QuantTypeError as error:
            raise region.op_error(f"of kernel '{kernel(region)}' cannot be exported: {error}") from None
    casts.finish()
    if to == "codegen":
        lower = LowerQrt()
        kept = {*module.operation.walk()}  # what nothing reads is gone, alone or with a branch around it
        for op in casts.made:
            if op in kept:
                lower.lower(op)


def _export(region: Operation, kernels: Kernels) -> None:
    floats = [port for port in (*inputs(region), *outputs(region)) if not isinstance(port.spec, UniformType)]
    if kernel(region) == RESCALE and not floats:
        kernels.casts.release(region, [_rescaled(region, kernels)])
        return
    form = form_of(region.regions[0].blocks[0])
    if form is not None and family_of(region, form) == FLOAT_MATMUL:
        floats = []
    if floats:
        _remark_floats(region, floats)
        put_back(region, kernels.casts)
    elif form is not None:
        kernels.casts.release(region, [kernels.region(region, form)])
    elif kernel(region) == LINEAR or not _split(region, kernels):
        remark(region, f"kernel '{kernel(region)}' has no op of qrt: its body becomes integer arithmetic")
        stored = [kernels.casts.stored(port.value, _quantized(port)) for port in inputs(region)]
        elements = [_quantized(port) for port in outputs(region)]
        kernels.casts.release(region, linear_region(region, stored, elements, lambda said: remark(region, said)))


def _split(region: Operation, kernels: Kernels) -> bool:
    """Whether a region has become several ops of qrt."""
    name = kernel(region)
    parts = split(region)
    for part, form in parts or ():
        kernels.casts.release(part, [kernels.region(part, form)])
    if parts:
        remark(region, f"kernel '{name}' becomes {len(parts)} ops of qrt")
    return bool(parts)


def _quantized(port: PortOf) -> UniformType:
    assert isinstance(port.spec, UniformType)  # who calls this has looked
    return port.spec


def _rescaled(region: Operation, kernels: Kernels) -> Value:
    (source,), (result,) = inputs(region), outputs(region)
    assert isinstance(source.spec, UniformType)  # who calls this has looked
    assert isinstance(result.spec, UniformType)
    stored = kernels.casts.stored(source.value, source.spec)
    return kernels.requantized(Builder.before(region), stored, result.spec)


def _remark_floats(region: Operation, floats: Sequence[PortOf]) -> None:
    if kernel(region) != RESCALE and not all(port.is_float for port in floats):
        port = next(port for port in floats if not port.is_float)
        remark(region, f"kernel '{kernel(region)}' stays in floats: {port.name} is {port.spec}")
