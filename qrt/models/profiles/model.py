"""Profiles: tables of (op, conditions, rounding rule). For an op, the first row applies whose conditions hold.

`for_kernels` adapts a profile to the import of programs that will be quantized.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from qrt.errors import QuantTypeError
from qrt.registry import Registry

Kernel = Literal["delegate", "builtin", "reference"]
"""The kind of kernel that a row describes: of XNNPACK's delegate, a builtin one, or a reference kernel. Delegates round
the bounds of fused activations differently."""


@dataclass(frozen=True)
class Range:
    """A condition of a `Row`: a number is at least ``low`` and below ``high``."""

    low: float
    high: float

    def __contains__(self, value: object) -> bool:
        return isinstance(value, int | float) and self.low <= value < self.high

    def __str__(self) -> str:
        return f"in [{self.low:g}, {self.high:g})"


@dataclass(frozen=True)
class Row:
    """A row of a profile: ``op`` is computed by the rounding rule ``rule`` if every condition in ``when`` holds.

    ``when`` maps a property of the operator, such as "storage", to the required value, to a tuple of allowed values, or
    to a `Range`. ``kernel`` is the kind of the runtime's kernel that computes the op by this rule.
    """

    op: str
    rule: str
    when: Mapping[str, Any] = field(default_factory=dict)
    kernel: Kernel = "builtin"

    def applies(self, facts: Mapping[str, Any]) -> bool:
        """Return True if all conditions hold for an operator with these properties (``facts``).

        A condition on a property that is not among the facts does not hold.
        """
        return all(name in facts and _holds(condition, facts[name]) for name, condition in self.when.items())


def _holds(condition: Any, value: Any) -> bool:
    return bool(value in condition if isinstance(condition, tuple | Range) else value == condition)


@dataclass(frozen=True)
class Profile:
    """The arithmetic of one runtime: a table of the rounding rules of its operators.

    Parameters
    ----------
    name : str
        The name by which users select the profile.
    runtime : str
        The package and its version.
    description : str
        The runtime's kernels that the table describes.
    rows : tuple of Row
        The rows of the table. For an op, the first row applies whose conditions hold.
    suffix : str
        The suffix of the files that the runtime reads.

    Examples
    --------
    >>> rows = (Row("add", "scaled20", {"ratio": Range(0.5, 2.0)}), Row("add", "fixed_double"))
    >>> mine = Profile("mine", "mine 1.0", "an example", rows)
    >>> mine.find("add", ratio=1.0).rule, mine.find("add", ratio=4.0).rule, mine.find("mul")
    ('scaled20', 'fixed_double', None)
    """

    name: str
    runtime: str
    description: str
    rows: tuple[Row, ...]
    suffix: str = ".tflite"

    @cached_property
    def by_op(self) -> Mapping[str, tuple[Row, ...]]:
        """The rows of each op, by the op's name."""
        ops = dict.fromkeys(row.op for row in self.rows)
        return {op: tuple(row for row in self.rows if row.op == op) for op in ops}

    @cached_property
    def without_delegate(self) -> "Profile":
        """The profile of the operators that the runtime does not give to its delegate."""
        return replace(self, rows=tuple(row for row in self.rows if row.kernel != "delegate"))

    def find(self, op: str, /, **facts: Any) -> Row | None:
        """Return the first row of ``op`` whose conditions hold for the properties ``facts``; None if there is none."""
        return next((row for row in self.by_op.get(op, ()) if row.applies(facts)), None)


PROFILES: Registry[Profile] = Registry(
    "profile",
    {
        "litert": "qrt.models.profiles.litert:LITERT",
        "litert-ref": "qrt.models.profiles.litert_ref:LITERT_REF",
        "ort": "qrt.models.profiles.ort:ORT",
    },
)
"""Every profile, by its name."""


def profile(name: str) -> Profile:
    """Return the profile with this name. Raise QuantTypeError if there is none.

    >>> profile("litert").runtime
    'ai-edge-litert 2.3'
    """
    if not isinstance(name, str) or name not in PROFILES:
        raise QuantTypeError(PROFILES.unknown(name))
    return PROFILES[name]


_ROWS = (
    Row("float_products", "bias_then_fma"),
    Row("float_transposed_volumes", "bias_then_fma"),
    Row("float_average_pool", "in_order"),
    Row("float_sum", "in_order"),
    Row("float_average", "divide"),
    Row("float_softmax", "in_order"),
    Row("float_logistic", "whole"),
    Row("hybrid", "floats"),
    Row("hybrid_blocks", "floats"),
)


def for_kernels(profile: Profile) -> Profile:
    """Return a profile with which float operators are imported in the forms that the pass ``fuse-kernels`` recognises.

    Sums are computed in the order of their loops, averages and softmax by a division, and operators with float inputs
    and int8 weights get float weights.

    >>> from qrt.models.profiles.litert import LITERT
    >>> for_kernels(LITERT).find("float_softmax").rule
    'in_order'
    """
    return replace(profile, rows=(*_ROWS, *profile.rows))
