"""Lowering of `qrt` ops to integer arithmetic that any MLIR tool reads: one file per op family."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from qrt.errors import QuantTypeError
from qrt.ir import Module, Operation, Value
from qrt.ir.core.rewrite import Builder, replace
from qrt.numerics import REQUANT_RULES
from qrt.ops import FAMILIES
from qrt.ops.core import Attributes
from qrt.passes.lower_qrt.binary import lower_add, lower_mul, lower_sub
from qrt.passes.lower_qrt.casts import lower_requantize
from qrt.passes.lower_qrt.clamp import lower_clamp
from qrt.passes.lower_qrt.conv2d import lower_conv2d, lower_depthwise_conv2d
from qrt.passes.lower_qrt.float_matmul import lower_float_matmul
from qrt.passes.lower_qrt.lookup import lower_lookup
from qrt.passes.lower_qrt.matmul import lower_matmul
from qrt.passes.lower_qrt.mean import lower_mean
from qrt.passes.lower_qrt.movement import lower_concat, lower_reshape, lower_transpose
from qrt.passes.lower_qrt.pad import lower_pad
from qrt.passes.lower_qrt.pool import lower_avg_pool2d, lower_max_pool2d
from qrt.passes.lower_qrt.site import Site, tensor_type
from qrt.passes.lower_qrt.softmax import lower_softmax
from qrt.types import UniformType

Lower = Callable[[Site, Operation, Attributes], Value]
"""Makes what computes an op, and returns its result's storage; attributes are complete."""

LOWERINGS: dict[str, Lower] = {
    "add": lower_add,
    "avg_pool2d": lower_avg_pool2d,
    "clamp": lower_clamp,
    "concat": lower_concat,
    "conv2d": lower_conv2d,
    "depthwise_conv2d": lower_depthwise_conv2d,
    "float_matmul": lower_float_matmul,
    "lookup": lower_lookup,
    "matmul": lower_matmul,
    "max_pool2d": lower_max_pool2d,
    "mean": lower_mean,
    "mul": lower_mul,
    "pad": lower_pad,
    "requantize": lower_requantize,
    "reshape": lower_reshape,
    "softmax": lower_softmax,
    "sub": lower_sub,
    "transpose": lower_transpose,
}
"""How each op of `qrt` is lowered."""

_CHOICES = {
    "zero_point": ("post-accumulation", "in-loop"),
    "to": ("linalg", "loops"),
    "requant": ("", *REQUANT_RULES),
}


@dataclass(frozen=True)
class LowerQrt:
    """Turns qrt ops into linalg, arith, math and tensor on signless integers, with quant.scast around them. Changes no
    value. Locations name the stage: "accumulate", "zero-point", "bias", "requantize", "output zero point", "clamp".

    `zero-point` says where products get rid of zero points: after the sum, or in its loop. `to=loops` writes affine.for
    nests on memrefs instead of linalg.generic. `requant` is for ops that do not say their rule.
    """

    zero_point: str = "post-accumulation"
    to: str = "linalg"
    requant: str = ""

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                option = name.replace("_", "-")
                listed = ", ".join(filter(None, choices))
                raise QuantTypeError(f"{option} is one of {listed}, not {getattr(self, name)!r}")

    def run(self, module: Module) -> None:
        for op in list(module.operation.walk()):
            if op.name.startswith("qrt."):
                try:
                    self._lower(op)
                except QuantTypeError as error:
                    raise op.op_error(f"cannot be lowered: {error}") from None

    def _lower(self, op: Operation) -> None:
        name = op.name.removeprefix("qrt.")
        if name not in LOWERINGS:
            raise QuantTypeError(f"there is no lowering of {op.name}")
        site = Site(Builder.before(op), loops=self.to == "loops", in_loop=self.zero_point == "in-loop")
        stored = LOWERINGS[name](site, op, self._attributes(name, op))
        site.builder.loc = None
        replace(op, [_declared(site, stored, op.results[0])])
        site.erase_unread_tensors()

    def _attributes(self, name: str, op: Operation) -> dict[str, Any]:
        """What the op says, else what the options say, else the family's defaults."""
        family = FAMILIES[name]
        said = {key: value.python for key, value in op.attributes.items() if key in family.attributes}
        if not self.requant or "requant" not in family.attributes or "requant" in said:
            return family.complete(said)
        attributes = family.complete(said | {"requant": self.requant})
        # The verifier has not seen this rule: the accumulator may be too wide for it.
        family.resolve(tuple(map(tensor_type, op.operands)), attributes, tensor_type(op.results[0]))
        return attributes


def _declared(site: Site, stored: Value, result: Value) -> Value:
    """Storage as the type of the result says it."""
    declared = tensor_type(result)
    if not isinstance(declared.element, UniformType):
        return stored
    type = declared.with_(element=declared.element.storage_type)
    if stored.type is not type:
        stored = site.value("tensor.cast", (stored,), type)
    return site.value("quant.scast", (stored,), declared)


__all__ = ["LOWERINGS", "Lower", "LowerQrt"]
