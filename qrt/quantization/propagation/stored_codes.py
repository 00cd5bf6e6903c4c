"""The conversion of a quantized type to a wider storage type with the same represented values."""

from qrt.errors import QuantTypeError
from qrt.quantization.targets.model import TargetPort
from qrt.types import UniformType


def stored_in(port: TargetPort, type: UniformType) -> UniformType | None:
    """Return a type with a port's storage that represents exactly the values of ``type``; None if there is none.

    The same integer is added to the storage bounds and the zero point. It moves the zero point of a symmetric port to
    the middle of the storage, or signed bounds into unsigned storage and back. It is 0 if neither is needed.

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
