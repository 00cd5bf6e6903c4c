"""A target: the kernels that a device has, each with the storage of its ports and the constraint between their
parameters (docs/quantization.md). A port is an operand or a result of a kernel; both are treated alike.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from qrt.types import FloatType, QuantizedType, UniformType

Spec = QuantizedType | FloatType
"""What is known of a port. The expressed type itself: nothing yet. `!quant.any`: a least width. `!quant.calibrated`: a
range. `!quant.none`: it stays as it is. `!quant.uniform`: all. Another, narrower float (`bf16`): it is stored so."""

Changed = tuple[list[int], list[int]]
"""The numbers of the inputs and of the outputs that a constraint has given another type."""

QuantFn = Callable[[list[Spec], list[Spec]], Changed]
"""A constraint: reads the types of a kernel's ports, writes the types that follow from others into the lists, and says
which it has written. It is called again whenever a port of the kernel has been decided."""

Constraint = Literal["free", "same_scale", "fixed_scale", "multiplier_scale", "multiplier_accumulator_scale"]
WILDCARD: Final = "*"


@dataclass(frozen=True)
class Port:
    """What a kernel takes at a port.

    ``storage`` is an integer type (``i8``), a float type for a port whose values stay floats (``f32``, ``bf16``), or
    the wildcard ``*``, which matches anything. ``low`` and ``high`` are the storage bounds. ``axis``: each channel
    along it has a scale where the values are known or have statistics for each channel; there is one scale elsewhere.
    ``blocks``: sizes by axis of a sub-channel type. ``symmetric``: the zero point is in the middle of the storage.
    ``given``: the whole type of a port under ``fixed_scale``. ``size``: "?" for a port that may be absent, "*" for any
    number of ports.
    """

    name: str
    storage: str = WILDCARD
    low: int | None = None
    high: int | None = None
    axis: int | None = None
    blocks: Mapping[int, int] | None = None
    symmetric: bool = False
    given: UniformType | None = None
    size: Literal["", "?", "*"] = ""

    @property
    def is_wildcard(self) -> bool:
        """Whether anything fits."""
        return self.storage == WILDCARD


@dataclass(frozen=True)
class Kernel:
    """One signature of a kernel: a name has as many as the target has entries for it, in order.

    ``constrained`` are the names of the ports that the constraint relates; all ports if empty. ``multiplier`` is the
    range of ``sa * sb / so`` under ``multiplier_scale`` and ``multiplier_accumulator_scale``, both ends included.
    ``default`` has the ports that a wildcard takes where nobody decides it.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    constraint: Constraint | QuantFn = "free"
    constrained: tuple[str, ...] = ()
    multiplier: tuple[float, float] = (0.0, float("inf"))
    default: Mapping[str, Port] = field(default_factory=dict)

    def ports(self, inputs: int, outputs: int) -> tuple[Sequence[Port], Sequence[Port]] | None:
        """The port of each of so many operands and results; None where the kernel takes other numbers of them."""
        given, results = _matched(self.inputs, inputs), _matched(self.outputs, outputs)
        return None if given is None or results is None else (given, results)


@dataclass(frozen=True)
class Target:
    """A device. ``coarser_bias``: a bias that passes its storage at scale ``sa * sw`` takes a coarser scale; elsewhere
    the scale of its channel's weights grows.
    """

    name: str
    kernels: tuple[Kernel, ...]
    coarser_bias: bool = False

    def signatures(self, kernel: str) -> Sequence[Kernel]:
        """The signatures of a kernel, in order; none where the target lacks it."""
        return [entry for entry in self.kernels if entry.name == kernel]


def _matched(ports: Sequence[Port], count: int) -> Sequence[Port] | None:
    """The port of each of ``count`` values, in order: optional ports are the last but for a variadic one."""
    if ports and ports[-1].size == "*":
        return [*ports[:-1], *([ports[-1]] * (count - len(ports) + 1))] if count >= len(ports) - 1 else None
    least = sum(port.size == "" for port in ports)
    return ports[:count] if least <= count <= len(ports) else None
