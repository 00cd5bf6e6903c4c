"""Legalizations: functions that replace a region by the operations of a target (docs/reference/targets.md)."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qrt.errors import QuantTypeError
from qrt.ir import Builder, Operation, Value, attribute
from qrt.ir.core import registry
from qrt.ops.clamp import stored_bounds
from qrt.types import TensorType, UniformType


@dataclass(frozen=True)
class RegionCall:
    """A quantized region that a legalization replaces by operations of a target.

    ``operands`` are quantized values in the order of the kernel's ports. ``results`` are the types of the values that
    the legalization must return. Operands and results have the axis orders that the ports' ``layout`` prescribes.
    ``attributes`` come from the pattern that matched the region, such as strides. ``low`` and ``high`` are the bounds
    to which the region clamps its result, as expressed (float) values; a missing bound is None, so a relu has 0 and
    None. ``bounds`` has both bounds as storage values of the first result. ``builder`` inserts operations in place of
    the region.

    Examples
    --------
    >>> def write(call: RegionCall) -> "list[Value]":
    ...     low, high = call.bounds
    ...     return [*call.emit("npu.conv2d", call.operands, call.results, low=low, high=high)]
    """

    kernel: str
    builder: Builder
    operands: tuple[Value, ...]
    results: tuple[TensorType, ...]
    attributes: Mapping[str, Any]
    low: float | None = None
    high: float | None = None

    @property
    def bounds(self) -> tuple[int, int]:
        """The least and the greatest storage value of the first result, after the clamp to ``low`` and ``high``."""
        element = self.results[0].element
        assert isinstance(element, UniformType)  # export checks the ports
        low, high = stored_bounds(element, {"min": self.low, "max": self.high})
        return int(low.max()), int(high.min())

    def emit(
        self, name: str, operands: Sequence[Value], types: Sequence[TensorType], **attributes: Any
    ) -> tuple[Value, ...]:
        """Insert the operation ``name`` of a registered dialect, and return its results.

        Attributes are Python values; None leaves an attribute out.
        """
        if registry.find(name) is None:
            raise QuantTypeError(f"'{name}' is not an operation of a registered dialect")
        given = {key: attribute(value) for key, value in attributes.items() if value is not None}
        return tuple(self.builder.emit(name, operands, types, given).results)


Legalize = Callable[[RegionCall], Sequence[Value]]
"""A legalization: a function that writes the operations of a region, and returns the values of the region's results."""

Rewrite = Callable[[Operation, Builder], list[Value] | None]
"""A rewrite pattern: a function that returns the values that replace an operation's results; None if it does not apply.
"""


def write_operation(call: RegionCall) -> Sequence[Value]:
    """Insert the target's operation that has the kernel's name, with the pattern's attributes and the clamp's bounds.

    Returns the results of the operation.
    """
    return call.emit(call.kernel, call.operands, call.results, **call.attributes, low=call.low, high=call.high)
