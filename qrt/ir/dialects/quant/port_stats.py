"""Attribute `quant.port_stats` of a `quant.region`: ranges of its ports, which are its operands and results.

    quant.port_stats = {input0 = {range = dense<[-1.0, 3.0]> : tensor<2xf64>},
                        output0 = {axis = 1 : i64, channels = dense<[[-1.0, 1.0], [0.0, 3.0]]> : tensor<2x2xf64>}}

The range of a port with the specification `!quant.any` is in this attribute. The specification `!quant.calibrated`
contains the port's range, so that the attribute has only the ranges of its channels, if they are known.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.ir.constants import constant_attribute
from qrt.ir.core.attributes import Attribute, DictAttr, IntegerAttr
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.text.dense import DenseElementsAttr
from qrt.types import CalibratedType, FloatType, IntegerType, TensorType

PORT_STATS = "quant.port_stats"
Array = npt.NDArray[Any]

_F64 = FloatType("f64")


@dataclass(frozen=True, eq=False)
class PortRange:
    """Range [low, high] of the values at a port, an operand or result of a `quant.region`.

    If there is a range for each channel, ``axis`` is the channel axis, and each row of ``channels`` is a channel's
    (least, greatest) value.
    """

    low: float
    high: float
    axis: int | None = None
    channels: Array | None = None


def port_range(region: RegionOp, port: int) -> PortRange | None:
    """Return the range of a port from its type specification and `quant.port_stats`; None if neither has one.

    Raise VerifyError for an infinite range, and for an attribute that does not have the form in the docstring of this
    module.
    """
    spec = region.spec(port)
    whole = _attribute(region)
    stats = None if whole is None else whole.get(_key(region, port))
    if stats is not None and not isinstance(stats, DictAttr):
        raise region.op_error(
            f"entry '{_key(region, port)}' of attribute '{PORT_STATS}' must be a dictionary, got {stats}"
        )
    entries = {} if stats is None else dict(stats.items)
    ends = _ranges(region, entries.get("range"), (2,))
    if isinstance(spec, CalibratedType):
        ends = np.array([spec.min, spec.max])
        if not np.isfinite(ends).all():
            raise region.op_error(
                f"the range of {_key(region, port)} in input_specs or output_specs must be finite, got {spec}"
            )
    if ends is None:
        return None
    axis = entries.get("axis")
    if not isinstance(axis, IntegerAttr):
        return PortRange(float(ends[0]), float(ends[1]))
    return PortRange(float(ends[0]), float(ends[1]), axis.value, _ranges(region, entries.get("channels"), (None, 2)))


def set_port_ranges(region: RegionOp, ranges: Mapping[int, PortRange | None]) -> None:
    """Store the ranges of ports in `quant.port_stats`; remove the entries of ports whose range is None.

    A range that a `!quant.calibrated` specification holds is not stored.
    """
    whole = _attribute(region)
    entries: dict[str, Attribute] = {} if whole is None else dict(whole.items)
    for port, range in ranges.items():
        entries.pop(_key(region, port), None)
        stats: dict[str, Attribute] = {}
        if range is not None and not isinstance(region.spec(port), CalibratedType):
            stats["range"] = _doubles(np.array([range.low, range.high]))
        if range is not None and range.axis is not None and range.channels is not None:
            stats |= {"axis": IntegerAttr(range.axis, IntegerType(64)), "channels": _doubles(range.channels)}
        if stats:
            entries[_key(region, port)] = DictAttr.of(stats)
    if entries:
        region.attributes[PORT_STATS] = DictAttr.of(entries)
    else:
        region.attributes.pop(PORT_STATS, None)


def _attribute(region: RegionOp) -> DictAttr | None:
    value = region.attributes.get(PORT_STATS)
    if value is not None and not isinstance(value, DictAttr):
        raise region.op_error(f"attribute '{PORT_STATS}' must be a dictionary, got {value}")
    return value


def _key(region: RegionOp, port: int) -> str:
    count = len(region.operands)
    return f"input{port}" if port < count else f"output{port - count}"


def _ranges(region: RegionOp, value: Attribute | None, shape: tuple[int | None, ...]) -> Array | None:
    if value is None:
        return None
    ranges = np.asarray(value.python, np.float64) if isinstance(value, DenseElementsAttr) else np.empty(0)
    fits = len(ranges.shape) == len(shape) and all(
        size in (None, stated) for size, stated in zip(shape, ranges.shape, strict=True)
    )
    if not fits or not np.isfinite(ranges).all() or (ranges[..., 0] > ranges[..., 1]).any():
        wanted = ", ".join("N" if size is None else str(size) for size in shape)
        raise region.op_error(
            f"a range in attribute '{PORT_STATS}' must be dense elements of shape [{wanted}], finite, with minimum <= "
            f"maximum, got {value}"
        )
    return ranges


def _doubles(values: Array) -> Attribute:
    return constant_attribute(values.astype(np.float64), TensorType(values.shape, _F64))
