"""``quant.qcast``, ``quant.dcast`` and ``quant.scast`` on QuantTensors."""

from typing import Any

import numpy as np  # noqa: F401 - for the examples
import numpy.typing as npt

from qrt.eager.binding import Bound, bind_arrays, eager, require_hashable, require_tensor
from qrt.errors import QuantTypeError
from qrt.ops.casts import from_signless, signless
from qrt.ops.core import Array
from qrt.tensor.arrays import as_array, expressed_array, require_uniform
from qrt.tensor.quant_tensor import QuantTensor
from qrt.types import UniformType, check_integrity


@eager
def qcast(
    x: npt.ArrayLike,
    type: UniformType,
    *,
    rounding: str = "half_even",
    zero_point: str = "before",
    scale: str = "divide",
    out: QuantTensor | None = None,
) -> Bound[QuantTensor]:
    """``quant.qcast``: expressed values to storage, ``clamp(round(x / s + zp))`` in the expressed type.

    ``x``: an array of the type's expressed dtype (Python numbers and lists are converted). ``rounding``: half_even,
    half_away or toward_zero; ``zero_point``: added before or after rounding; ``scale``: divide, or multiply by the
    reciprocal. NaN stores the zero point, infinities saturate. Raises ``QuantTypeError`` for another dtype or a shape
    that does not fit the type's channels.

    >>> t = UniformType("i8", "f32", 0.5, 3)
    >>> qcast(np.float32([-1, 0.2, 1000]), t).storage.tolist()
    [1, 3, 127]
    """
    rule = {"rounding": rounding, "zero_point": zero_point, "scale": scale}
    values = expressed_array(x, require_uniform(type), exact=True)
    require_hashable("qcast", tuple(rule.items()))
    return _quantize(values, type, rule, out)


@eager
def quantize(x: npt.ArrayLike, type: UniformType, *, out: QuantTensor | None = None) -> Bound[QuantTensor]:
    """``qcast`` by the default rule of real values of any dtype, rounded to the expressed type first.

    >>> quantize([0, 1, 2], UniformType("u4", "f32", 0.25)).storage.tolist()
    [0, 4, 8]
    """
    values = expressed_array(x, require_uniform(type), exact=False)
    return _quantize(values, type, {}, out)


def _quantize(x: Array, type: UniformType, rule: dict[str, str], out: QuantTensor | None) -> Bound[QuantTensor]:
    check_integrity(type, x.shape)
    if out is not None:
        require_tensor(out, "qcast: out")
    return bind_arrays("qcast", (x,), rule, type, out, type.expressed_type)


@eager
def dcast(q: QuantTensor, *, out: Array | None = None) -> Bound[Array]:
    """``quant.dcast``: ``(storage - zero_point) * scale`` in the expressed type.

    >>> dcast(QuantTensor(np.int8([3, 5]), UniformType("i8", "f32", 0.5, 3))).tolist()
    [0.0, 1.0]
    """
    require_tensor(q, "dcast: q")
    return bind_arrays("dcast", (q,), {}, None, out)


def scast(x: QuantTensor | npt.ArrayLike, type: UniformType | None = None) -> Any:
    """``quant.scast``: moves no bits. A quantized tensor to signless integers, or integers of the storage width to a
    quantized type.

    Signless integers are NumPy's ``intN``; integers may be given signed or unsigned, the type says how their bits
    read. Raises ``QuantTypeError`` for values that the width or the storage bounds do not hold.

    >>> scast(QuantTensor(np.uint8([255]), UniformType("u8", "f32", 1.0))).tolist()
    [-1]
    >>> scast(np.int8([-1]), UniformType("u8", "f32", 1.0)).storage.tolist()
    [255]
    """
    if isinstance(x, QuantTensor):
        if type is not None:
            raise QuantTypeError("scast: a quantized tensor casts to integers, without a type")
        return signless(x.storage, x.type)
    if type is None:
        raise QuantTypeError("scast: integers need the quantized type to cast to")
    return QuantTensor._of(from_signless(as_array(x), require_uniform(type)), type)
