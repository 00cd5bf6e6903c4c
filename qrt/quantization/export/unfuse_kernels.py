"""unfuse-kernels: float bodies in place of regions."""

from dataclasses import dataclass

from qrt.ir import Module
from qrt.ir.passes.options import option
from qrt.ir.remarks import remark
from qrt.quantization.checking.regions import RESCALE, regions_of
from qrt.quantization.export.casts import Casts
from qrt.quantization.export.float_bodies import put_back
from qrt.quantization.export.ports import inputs, outputs
from qrt.quantization.targets.registry import find


@dataclass(frozen=True)
class UnfuseKernels:
    """Puts the float bodies of regions back, with a cast to the type of each decided port and back.

    With `target`, the regions whose kernel the target has stay as they are, and so do rescales.
    """

    target: str = option("", "the target whose kernels stay")

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
