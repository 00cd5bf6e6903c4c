"""Float bodies in place of regions, with casts where a port is decided."""

from qrt.ir.builder import Builder
from qrt.ir.dialects.quant.region import RegionOp
from qrt.quantization.export.casts import Casts
from qrt.quantization.export.ports import inputs, outputs


def put_back(region: RegionOp, casts: Casts) -> None:
    """The float body in place of a region. What enters and leaves it by a decided port is cast to the port's type and
    back."""
    operands = [casts.kept(port, port.value) if port.is_decided else port.value for port in inputs(region)]
    decided = [(port, port.is_decided) for port in outputs(region)]
    values = Builder(region).inline(region.body, operands)
    kept = [
        casts.kept(port, value) if is_decided else value
        for (port, is_decided), value in zip(decided, values, strict=True)
    ]
    casts.release(region, kept)
