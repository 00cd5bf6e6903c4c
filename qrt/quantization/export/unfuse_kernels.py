"""The pass `unfuse-kernels`, which replaces regions by their float bodies, with casts at ports that have a type."""

from dataclasses import dataclass

from qrt.ir import Module
from qrt.ir.builder import Builder
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.passes.options import option
from qrt.ir.remarks import remark
from qrt.quantization.checking.regions import RESCALE, regions_of
from qrt.quantization.export.casts import Casts
from qrt.quantization.export.ports import inputs, outputs
from qrt.quantization.targets.registry import find


def put_back(region: RegionOp, casts: Casts) -> None:
    """Replace a region by its float body; operands and results with a chosen type are cast to that type and back."""
    operands = [casts.rounded(port, port.value) if port.is_decided else port.value for port in inputs(region)]
    decided = [(port, port.is_decided) for port in outputs(region)]
    values = Builder(region).inline(region.body, operands)
    results = [
        casts.rounded(port, value) if is_decided else value
        for (port, is_decided), value in zip(decided, values, strict=True)
    ]
    casts.release(region, results)


@dataclass(frozen=True)
class UnfuseKernels:
    """Replaces regions by their float bodies. Operands and results with a chosen type are cast to that type and back.

    With `target`, rescales and regions whose kernel the target has are not changed.
    """

    target: str = option("", "the target whose kernels are kept")

    def run(self, module: Module) -> None:
        known = find(self.target) if self.target else None
        casts = Casts()
        for region in regions_of(module):
            if known is not None and (region.kernel == RESCALE or known.signatures(region.kernel)):
                continue
            for port in (*inputs(region), *outputs(region)):
                if not port.is_decided and not port.stays:
                    remark(region, f"{port.name} of kernel '{region.kernel}' was {port.spec}, which is dropped")
            put_back(region, casts)
        casts.finish()
