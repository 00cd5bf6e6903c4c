"""Regions that are there already, for a target that may be another one than they were made for."""

from qrt.ir import StringAttr
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remark
from qrt.quantization.checking.kernels import violation
from qrt.quantization.checking.regions import RESCALE, ports_of
from qrt.quantization.forms import reading_of
from qrt.quantization.fusion.choose import kernel_names, refusal
from qrt.quantization.targets.model import Target


def retarget(region: RegionOp, target: Target) -> None:
    """Gives a region the name that the target has for what it computes, where the target lacks its own; says what does
    not fit.
    """
    name = region.kernel
    if name in (RESCALE, "linear"):
        return
    count = len(region.operands)
    if refusal((name,), count, None, target) is not None:
        reading = reading_of(region.regions[0].blocks[0])
        names = kernel_names(reading) if reading is not None else ()
        fitting = [other for other in names if refusal((other,), count, reading, target) is None]
        if not fitting:
            reason = refusal(names or (name,), count, reading, target)
            remark(region, f"'quant.region' op ({name}) is not for this target: {reason}")
            return
        region.attributes["kernel"] = StringAttr(fitting[0])
    if all(port.is_decided for port in ports_of(region)) and (wrong := violation(region, target)) is not None:
        remark(region, f"'quant.region' op ({region.kernel}) is not for this target: {wrong}")
