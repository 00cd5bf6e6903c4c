"""Quantized types that store the codes of a narrower type in the storage of a port."""

from qrt.errors import QuantTypeError
from qrt.quantization.targets.model import TargetPort
from qrt.types import UniformType


def stored_in(port: TargetPort, type: UniformType) -> UniformType | None:
    """Return a type in a port's storage that has exactly the values of another type; None if there is none.

    The codes are the same if the port has them. They are shifted for a symmetric port, whose zero point is in the
    middle, and where only the signs differ.

    >>> narrow = UniformType("i4", "f32", 0.5, -1)
    >>> str(stored_in(TargetPort("x", "i8"), narrow))
    '!quant.uniform<i8<-8:7>:f32, 5.000000e-01:-1>'
    >>> str(stored_in(TargetPort("x", "i16", symmetric=True), narrow))
    '!quant.uniform<i16<-7:8>:f32, 5.000000e-01>'
    """
    if port.is_wildcard or port.low is None or port.high is None:
        return None
    zeros = {*type.zero_points}
    if port.symmetric:
        if len(zeros) > 1:
            return None
        shift = (port.low + port.high + 1) // 2 - min(zeros)
    else:
        is_within = port.low <= type.storage_min and type.storage_max <= port.high
        shift = 0 if is_within else port.low - type.storage_min
    low, high = type.storage_min + shift, type.storage_max + shift
    if not port.low <= low <= high <= port.high:
        return None
    moved = type.zero_point_array + shift
    try:
        return type.with_(
            storage=port.storage,
            zero_points=int(moved) if type.is_per_layer else moved,
            storage_min=low,
            storage_max=high,
        )
    except QuantTypeError:
        return None
