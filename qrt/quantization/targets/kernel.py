"""The kernels of a target: the types that they accept, and the constraint between these (docs/reference/targets.md).

A *port* describes one operand or result of a kernel.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, get_args

from qrt.errors import QuantTypeError, shown
from qrt.ir import Value
from qrt.numerics.float_text import FORMATS
from qrt.ops.declare import Constraint
from qrt.quantization.forms import KernelMatch
from qrt.quantization.targets.legalization import Legalize
from qrt.types import FloatType, QuantizedType, UniformType
from qrt.types.storage import default_bounds, parse_storage

Spec = QuantizedType | FloatType
"""The specification of a port.

The expressed type itself: nothing is known. `!quant.any`: a least width. `!quant.calibrated`: a range. `!quant.none`:
the values stay as they are. `!quant.uniform`: the complete type. A narrower float (`bf16`): the values are stored in
it.
"""

Changed = tuple[list[int], list[int]]
"""The numbers of the inputs and of the outputs whose types a constraint changed."""

QuantFn = Callable[[list[Spec], list[Spec]], Changed]
"""A constraint: a function of the lists of input and output types.

The function writes types that follow from others into the lists, and returns the numbers of the types that it wrote. It
is called again whenever a port of the kernel is decided.
"""

CONSTRAINTS: Final[tuple[Constraint, ...]] = get_args(Constraint)
WILDCARD: Final = "*"

FusionPattern = Callable[[Value], KernelMatch | None]
"""A fusion pattern: a function that finds the operations by which a kernel computes a value, or returns None."""


@dataclass(frozen=True)
class TargetPort:
    """A port of a kernel, with the types that the kernel accepts there.

    Parameters
    ----------
    name : str
        The name in messages, and in the kernel's ``constrained`` and ``default``.
    storage : str, default "*"
        An integer type (``i8``), a float type for a port whose values stay floats (``f32``, ``bf16``), or the wildcard
        ``*``, which accepts any integer type.
    low, high : int, optional
        The storage bounds, by default those of the storage type. A type with the same or narrower bounds is accepted.
    axis : int, optional
        The axis along which a tensor has one scale for each index. Only constants, and tensors with a range for each
        index, have several scales; other tensors have a single scale. A negative number counts from the last axis. A
        tensor of so few axes that it reaches the first axis or beyond, such as the vector operand of a matrix product,
        has a single scale.
    blocks : mapping of int to int, optional
        The block sizes of a sub-channel type, by axis. The kernel does not accept a tensor whose sizes are no multiples
        of the block sizes.
    symmetric : bool, default False
        True if the zero point must be in the middle of the storage, as in ``UniformType.for_range``.
    given : UniformType, optional
        The complete type of the port, for kernels with the constraint ``fixed_scale``. It overrides the arguments
        ``storage``, ``low``, ``high``, ``axis`` and ``blocks``.
    layout : tuple of int, optional
        The order in which the target's own operation takes the axes: ``(0, 3, 1, 2)`` for NCHW if the pattern is NHWC.
        The numbers in ``axis`` and ``blocks`` are those of the pattern's axes.
    size : {"", "?", "*"}, default ""
        "?" for an optional port, "*" for any number of ports. Such ports come last.

    Raises
    ------
    QuantTypeError
        If the storage is unknown, or the arguments contradict each other.

    Examples
    --------
    >>> TargetPort("w", "i8", -127, axis=0, symmetric=True).high
    127
    """

    name: str
    storage: str = WILDCARD
    low: int | None = None
    high: int | None = None
    axis: int | None = None
    blocks: Mapping[int, int] | None = None
    symmetric: bool = False
    given: UniformType | None = None
    layout: tuple[int, ...] | None = None
    size: Literal["", "?", "*"] = ""

    def __post_init__(self) -> None:
        if self.given is not None:
            for name, value in _parts(self.given).items():
                object.__setattr__(self, name, value)
        if self.layout is not None and sorted(self.layout) != [*range(len(self.layout))]:
            raise QuantTypeError(f"layout {shown(self.layout)} must name each axis once, as in 0,3,1,2")
        if self.axis is not None and self.blocks is not None:
            raise QuantTypeError("a port can have an axis or blocks, not both")
        if self.blocks is not None and not (
            self.blocks and all(axis >= 0 and size > 0 for axis, size in self.blocks.items())
        ):
            raise QuantTypeError("blocks must map non-negative axes to positive sizes")
        if self.is_wildcard or self.is_float:
            if (self.low, self.high) != (None, None) or self.symmetric:
                raise QuantTypeError(f"bounds and symmetric are for integer storage, got storage {self.storage}")
            if self.is_float and (self.axis is not None or self.blocks is not None):
                raise QuantTypeError(f"axis and blocks are for integer storage, got storage {self.storage}")
            return
        self._check_bounds()

    def _check_bounds(self) -> None:
        try:
            least, greatest = default_bounds(*parse_storage(self.storage))
        except QuantTypeError:
            raise QuantTypeError(
                f"storage must be '*', i1 to i32, u1 to u32 or a float type (f32, bf16), got {shown(self.storage)}"
            ) from None
        low = least if self.low is None else self.low
        high = greatest if self.high is None else self.high
        if not least <= low < high <= greatest:
            raise QuantTypeError(f"bounds {low}:{high} of {self.storage} must be ascending within {least}:{greatest}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    @property
    def is_wildcard(self) -> bool:
        """True if the port accepts any integer type."""
        return self.storage == WILDCARD

    @property
    def is_float(self) -> bool:
        """True if the port takes floats, which are not quantized."""
        return self.storage in FORMATS

    def axis_of(self, rank: int) -> int | None:
        """Return the axis with one scale for each index, in a tensor of this rank; None if there is a single scale."""
        if self.axis is None:
            return None
        axis = self.axis if self.axis >= 0 else max(rank + self.axis, 0) or rank
        return axis if axis < rank else None


def _parts(t: UniformType) -> dict[str, Any]:
    """Return the keyword arguments of a port that accepts only the type ``t``."""
    blocks = None if t.block_sizes is None else dict(t.block_sizes)
    return {"storage": t.storage, "low": t.storage_min, "high": t.storage_max, "axis": t.axis, "blocks": blocks}


@dataclass(frozen=True)
class TargetKernel:
    """A signature of a kernel: the types that its operands and results accept, and the constraint between them.

    A target may have several signatures with one name, which are tried in order.

    Parameters
    ----------
    name : str
        The name of the kernel in the attribute ``kernel`` of regions; a kernel of qrt is named like its operation.
    inputs, outputs : tuple of TargetPort
        The ports, in order, with distinct names.
    constraint : str, callable, or tuple of these, default "free"
        "free", "same_scale", "fixed_scale", "sum_scale", "multiplier_scale" or "multiplier_accumulator_scale", or a
        function of the lists of input and output types, which writes types into them and returns two lists: the indices
        of the inputs and of the outputs that it changed. If there are several constraints, all must hold.
    constrained : tuple of str, optional
        The names of the ports to which the constraint applies; all ports if empty. For the constraints whose names
        begin with ``multiplier`` these are the two factors, the bias if there is one, and the result.
    multiplier : tuple of float, default (0.0, inf)
        The range of multipliers, both bounds included: of ``sa * sb / so`` for ``multiplier_scale`` and
        ``multiplier_accumulator_scale``, and of each ``sa / so`` for ``sum_scale``, where ``sa`` and ``sb`` are scales
        of operands and ``so`` is the scale of the result.
    default : mapping of str to TargetPort, optional
        For ports with the storage ``*``, by port name: the storage to use if nothing else determines their type.
    pattern : str or callable, optional
        The float operations that the kernel computes: a function that finds them, or the name of a kernel of qrt that
        computes the same. By default, those of the kernel of qrt that has this kernel's name.
    legalize : callable, optional
        A function that replaces a region by operations of the target. By default, an operation with the kernel's name
        replaces the region, if a dialect has one.

    Raises
    ------
    QuantTypeError
        If the arguments contradict each other.

    Examples
    --------
    >>> pool = TargetKernel("pool", (TargetPort("x", "i8"),), (TargetPort("y", "i8"),), "same_scale")
    >>> [port.name for port in pool.ports(1, 1)[0]]
    ['x']
    """

    name: str
    inputs: tuple[TargetPort, ...]
    outputs: tuple[TargetPort, ...]
    constraint: Constraint | QuantFn | tuple[Constraint | QuantFn, ...] = "free"
    constrained: tuple[str, ...] = ()
    multiplier: tuple[float, float] = (0.0, float("inf"))
    default: Mapping[str, TargetPort] = field(default_factory=dict)
    pattern: str | FusionPattern | None = None
    legalize: Legalize | None = None

    def __post_init__(self) -> None:
        for constraint in self.constraints:
            if not callable(constraint) and constraint not in CONSTRAINTS:
                raise QuantTypeError(
                    f"constraint must be a function or one of {', '.join(CONSTRAINTS)}, got {shown(constraint)}"
                )
        named = {port.name: port for port in (*self.inputs, *self.outputs)}
        if len(named) < len(self.inputs) + len(self.outputs):
            raise QuantTypeError(
                f"the ports of kernel {shown(self.name)} must have different names, but two have the same"
            )
        for what, names in (("constrained", self.constrained), ("default", self.default)):
            if unknown := [name for name in names if name not in named]:
                raise QuantTypeError(f"{what} names {shown(unknown[0])}, expected one of {', '.join(named)}")
        for ports in (self.inputs, self.outputs):
            sizes = "".join(port.size or "1" for port in ports)
            if sizes.lstrip("1") not in ("*", "?" * len(sizes.lstrip("1"))):
                raise QuantTypeError(
                    f"kernel {shown(self.name)}: only the last ports may be optional (?), or one port variadic (*)"
                )
        for name, port in self.default.items():
            if not named[name].is_wildcard or port.is_wildcard:
                raise QuantTypeError(f"'default' can be given only for ports with storage '*', got {shown(name)}")
        low, high = self.multiplier
        if not 0 <= low <= high or high == 0:
            raise QuantTypeError(f"multiplier must be a range of positive numbers, got {low} to {high}")
        for constraint in self.constraints:
            self._check_constraint(constraint)

    @property
    def constraints(self) -> tuple[Constraint | QuantFn, ...]:
        """The constraints as a tuple, in the order in which they are applied."""
        return self.constraint if isinstance(self.constraint, tuple) else (self.constraint,)

    @property
    def family(self) -> str:
        """The name of the kernel of qrt that computes the same float operations; empty if ``pattern`` is a function."""
        return "" if callable(self.pattern) else self.pattern or self.name

    def _check_constraint(self, constraint: Constraint | QuantFn) -> None:
        inputs, outputs = ([port for port in ports if self.relates(port)] for ports in (self.inputs, self.outputs))
        if constraint == "fixed_scale" and not any(port.given for port in (*inputs, *outputs)):
            raise QuantTypeError(
                "the constraint fixed_scale needs a port that is written as a complete type, such as "
                "!quant.uniform<i8:f32, 0.00390625>"
            )
        if isinstance(constraint, str) and constraint.startswith("multiplier"):
            most = 3 if constraint == "multiplier_accumulator_scale" else 2
            if not 2 <= len(inputs) <= most or len(outputs) != 1 or any(port.size == "*" for port in inputs):
                bias = ", perhaps a bias," if most == 3 else ""
                raise QuantTypeError(
                    f"the constraint {constraint} is for two factors{bias} and one result: list these ports in "
                    "'constrained'"
                )

    def relates(self, port: TargetPort) -> bool:
        """Return True if the constraint applies to a port."""
        return not self.constrained or port.name in self.constrained

    def ports(self, inputs: int, outputs: int) -> tuple[Sequence[TargetPort], Sequence[TargetPort]] | None:
        """Return the ports for this many operands and results; None if the kernel does not accept these numbers."""
        given, results = _matched(self.inputs, inputs), _matched(self.outputs, outputs)
        return None if given is None or results is None else (given, results)


def _matched(ports: Sequence[TargetPort], count: int) -> Sequence[TargetPort] | None:
    """Return the port of each of ``count`` operands or results; None if the ports do not allow this count."""
    if ports and ports[-1].size == "*":
        return [*ports[:-1], *([ports[-1]] * (count - len(ports) + 1))] if count >= len(ports) - 1 else None
    least = sum(port.size == "" for port in ports)
    return ports[:count] if least <= count <= len(ports) else None
