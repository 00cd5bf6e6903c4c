"""Lowering of `qrt` ops to integer arithmetic in upstream dialects: one file per op family."""

from dataclasses import dataclass
from typing import Any

from qrt.errors import QuantTypeError
from qrt.ir import Module, Operation, Value
from qrt.ir.dialects.linalg.lowering import LoweringContext, tensor_type
from qrt.ir.passes.lower_qrt.registry import LOWERINGS
from qrt.ir.passes.options import option
from qrt.ir.remarks import remark
from qrt.ir.rewriting.rewrite import replace
from qrt.ops import FAMILIES
from qrt.ops.requant import REQUANT
from qrt.types import UniformType

_CHOICES = {
    "zero_point": ("post-accumulation", "in-loop", "auto"),
    "to": ("linalg", "loops", "dot4"),
    "signs": ("us", "ss", "uu"),
    "requant": ("", *REQUANT.choices),
}
_ARTICLE_OPS = {family.declaration.article for family in FAMILIES.values()} - {""}
"""Second names of qrt ops: `"quant.conv2d"` and `"quant.matmul"`."""


@dataclass(frozen=True)
class LowerQrt:
    """Replaces qrt ops by linalg, arith, math and tensor ops on signless integers, with quant.scast around them.

    Lowers `"quant.conv2d"` and `"quant.matmul"` as the qrt ops of these names.

    Changes no value. Locations name the stage: "accumulate", "zero-point", "bias", "requantize", "output zero point",
    "clamp".

    `zero-point` selects how sums of products account for zero points: they are subtracted from both factors in the loop
    (`in-loop`), or the sum of raw products is corrected (`post-accumulation`). `auto` chooses, for each op, the
    alternative with fewer operations, and reports the choice as a remark. `to=loops` emits affine.for nests on memrefs
    instead of linalg.generic. `to=dot4` emits such nests too, in which sums of 8-bit products are vectors that
    compilers translate to dot-product instructions; `signs` gives the factors' types in that instruction: `s` is a
    signed byte, `u` an unsigned one. `requant` is the requantization rule (such as `fixed` or `float32`) of ops without
    the attribute `requant`.
    """

    zero_point: str = option("post-accumulation", "where products get rid of zero points", _CHOICES["zero_point"])
    to: str = option("linalg", "linalg.generic, or affine.for nests on memrefs, or with dot products", _CHOICES["to"])
    signs: str = option("us", "the signs of the factors of dot products", _CHOICES["signs"])
    requant: str = option("", "the rule of ops that do not say theirs", _CHOICES["requant"])

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                option = name.replace("_", "-")
                listed = ", ".join(filter(None, choices))
                raise QuantTypeError(f"{option} must be one of {listed}, got {getattr(self, name)!r}")
        if self.to == "dot4" and self.zero_point == "in-loop":
            raise QuantTypeError(
                "to=dot4 multiplies bytes, which do not hold differences of the strategy zero-point=in-loop; write "
                "zero-point=post-accumulation or zero-point=auto"
            )

    def run(self, module: Module) -> None:
        for op in module.operation.walk():
            if op.name.startswith("qrt.") or op.name in _ARTICLE_OPS:
                self.lower(op)

    def lower(self, op: Operation) -> None:
        """Replace one op by its lowering. Raises VerifyError if the op has no lowering."""
        try:
            self._lower(op)
        except QuantTypeError as error:
            raise op.op_error(f"cannot be lowered: {error}") from None

    def _lower(self, op: Operation) -> None:
        name = op.name.partition(".")[2]
        lower = LOWERINGS.get(name)
        if lower is None:
            raise QuantTypeError(f"{op.name} has no lowering")
        in_loop, by_cost = (self.zero_point == choice for choice in ("in-loop", "auto"))
        dot_signs = self.signs if self.to == "dot4" else ""
        context = LoweringContext(op, loops=self.to != "linalg", in_loop=in_loop, by_cost=by_cost, dot_signs=dot_signs)
        stored = lower(context, op, self._attributes(name, op))
        for choice in context.choices:
            remark(op, f"'{op.name}' op is lowered with {choice}")
        context.loc = None
        values = [stored] if isinstance(stored, Value) else stored
        replace(op, [_declared(context, value, result) for value, result in zip(values, op.results, strict=True)])
        context.erase_unread_tensors()

    def _attributes(self, name: str, op: Operation) -> dict[str, Any]:
        """Return all attributes of the op; missing ones come from the pass options, else from the family's defaults."""
        family = FAMILIES[name]
        given = family.given_attributes(op.attributes)
        has_rule = self.requant in family.declaration.choices.get("requant", ())
        if not self.requant or not has_rule or "requant" in given:
            return family.complete(given)
        attributes = family.complete(given | {"requant": self.requant})
        # The verifier has not seen this rule: the accumulator may be too wide for it.
        family.resolve_all(tuple(map(tensor_type, op.operands)), attributes, list(map(tensor_type, op.results)))
        return attributes


def _declared(context: LoweringContext, stored: Value, result: Value) -> Value:
    """Cast `stored` to the type of `result`: first to its static sizes, then to its quantized type if it has one."""
    declared = tensor_type(result)
    element = declared.element
    type = declared.with_(element=element.storage_type) if isinstance(element, UniformType) else declared
    if stored.type is not type:
        stored = context.value("tensor.cast", (stored,), type)
    return context.value("quant.scast", (stored,), declared) if isinstance(element, UniformType) else stored


__all__ = ["Lower", "LowerQrt", "lowering"]
