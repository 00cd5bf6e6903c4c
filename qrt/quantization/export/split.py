"""The export of a region as several `qrt` operations, whose intermediate values have exact or annotated types."""

from qrt.errors import QuantTypeError
from qrt.ir import Builder, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.linalg.lowering import tensor_type
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remarks_to
from qrt.ir.rewriting.rewrite import replace
from qrt.ops import FAMILIES
from qrt.ops.movement import transposed_element
from qrt.quantization.annotations.region_metadata import keep_tags
from qrt.quantization.export.kernels import kept_type
from qrt.quantization.export.ports import outputs
from qrt.quantization.forms import KernelForm, form_of
from qrt.quantization.forms.elements import INNER_ANNOTATIONS
from qrt.quantization.fusion.fuse_kernels import fuse_block
from qrt.quantization.targets.registry import find
from qrt.types import TensorType, Type, UniformType


def split(region: RegionOp) -> list[tuple[RegionOp, KernelForm]] | None:
    """Replace a region by regions of one `qrt` operation each, with chosen types. Return each new region with its form.

    Returns None, and changes nothing, if the body cannot be split or an intermediate value has no type. The type of an
    intermediate value is that of its `quant.qcast` in the body, or else the type that holds it exactly.
    """
    copy = Builder(region).insert(region.clone({}))
    assert isinstance(copy, RegionOp)
    with remarks_to(None):
        fuse_block(copy.body, find("qrt-cpu"))
    parts = [inner for inner in copy.body if isinstance(inner, RegionOp)]
    forms = [form_of(part.body, part.kernel) for part in parts]
    pairs = [(part, form) for part, form in zip(parts, forms, strict=True) if form is not None]
    if len(pairs) < len(parts) or not parts or not _decided(region, copy, dict(pairs)):
        copy.erase()
        return None
    values = Builder(region).inline(copy.body, copy.operands)
    copy.erase()
    keep_tags(region, values)
    replace(region, values)
    return pairs


def _decided(region: RegionOp, copy: RegionOp, forms: dict[RegionOp, KernelForm]) -> bool:
    """Set the type specifications of the regions in ``copy``. Return True if every intermediate value got a type."""
    types: dict[Value, Type] = dict(zip(copy.body.arguments, copy.input_specs, strict=True))
    last = copy.body.terminator
    given = {value: port.spec for value, port in zip(last.operands, outputs(region), strict=True)}
    for op in copy.body:
        if isinstance(op, RegionOp):
            known = [types.get(value) for value in op.operands]
            specs = [spec for spec in known if isinstance(spec, UniformType)]
            out = _annotated(op.results[0]) or given.get(op.results[0]) or _exact(op, forms[op], specs)
            if len(specs) < len(known) or not isinstance(out, UniformType) or not _fits(op, forms[op], specs, out):
                return False
            op.set_specs([*specs, out])
            types[op.results[0]] = out
        elif op.name == "quant.dcast":
            types[op.results[0]] = element_of(op.operands[0].type)
        elif op.name in INNER_ANNOTATIONS and op.operands[0] in types:
            types[op.results[0]] = types[op.operands[0]]
    return all(types.get(value) is spec for value, spec in given.items())


def _annotated(value: Value) -> Type | None:
    """Return the type to which all users quantize a value; None if they differ, or if a user is no `quant.qcast`."""
    types = [element_of(user.results[0].type) if user.name == "quant.qcast" else None for user in value.users]
    return types[0] if types and all(type is types[0] for type in types) else None


def _exact(part: RegionOp, form: KernelForm, specs: list[UniformType]) -> Type | None:
    """Return the result type that holds every result of an operation exactly; None if every type would round."""
    if len(specs) < len(part.operands):
        return None
    try:
        kept_element = kept_type(form, _operand_types(part, form, specs), tensor_type(part.results[0]))
    except QuantTypeError:
        return None
    if kept_element is not None or not FAMILIES[form.family].traits.is_exact:
        return kept_element
    exact = _resolved(part, form, specs, None)
    return None if exact is None else exact.element


def _fits(part: RegionOp, form: KernelForm, specs: list[UniformType], out: UniformType) -> bool:
    """Return True if an operation can compute a result of type ``out`` from operands of the types ``specs``.

    A requantization of the result may follow the operation.
    """
    family = FAMILIES[form.family]
    if family.traits.tables:
        return specs[0].storage_width <= 8 and specs[0].is_per_layer and out.is_per_layer
    if family.declaration.result.keeps_type:
        return True
    return _resolved(part, form, specs, tensor_type(part.results[0]).with_(element=out)) is not None


def _resolved(
    part: RegionOp, form: KernelForm, specs: list[UniformType], declared: TensorType | None
) -> TensorType | None:
    """Return the result type that the form's family infers; None if it does not accept the operand types."""
    rule = FAMILIES[form.family]
    given = {name: value for name, value in form.attributes.items() if value is not None}
    try:
        return rule.resolve(_operand_types(part, form, specs), rule.complete(given), declared)
    except QuantTypeError:
        return None


def _operand_types(part: RegionOp, form: KernelForm, specs: list[UniformType]) -> tuple[TensorType, ...]:
    types = []
    for operand in form.operands:
        shape, element = tensor_type(part.operands[operand.number]).shape or (), specs[operand.number]
        if operand.permutation is not None:
            shape = tuple(shape[axis] for axis in operand.permutation)
            element = transposed_element(element, operand.permutation)
        types.append(TensorType(shape, element))
    return tuple(types)
