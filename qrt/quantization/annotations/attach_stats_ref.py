"""The pass `attach-stats-ref`, which marks the values that need calibration records."""

from collections import Counter
from dataclasses import dataclass

from qrt.ir import Block, Builder, Module, Operation, StringAttr, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.matching import constant_of, require_acyclic
from qrt.ir.dialects.quant.annotations import IDENTITIES
from qrt.ir.dialects.quant.region import RegionOp, outside_bodies
from qrt.quantization.annotations.region_metadata import KEY
from qrt.types import AnyQuantizedType, FloatType, TensorType, Type, UniformType

CONTROL = ("scf.", "affine.")
"""The prefixes of operations that are loops or branches."""
_NAMED = ("quant.stats", "quant.stats_ref")


@dataclass(frozen=True)
class AttachStatsRef:
    """Puts a `quant.stats_ref` on float operands and results of regions if their range is unknown. Changes no value.

    A range is known if the value has a range annotation, a `quant.stats_ref` or a quantized type, or is a constant.

    The attribute `statsKey` names the value's calibration record. For example, `main/conv2d.1` is the result of the
    second `conv2d` of the function `main`. The name before the dot is the operation's name or, for a region, its
    kernel's name. The record of an argument is named `function/argument`.
    """

    def run(self, module: Module) -> None:
        require_acyclic(module.operation)
        taken = {
            str(op.attribute("statsKey", StringAttr).value) for op in outside_bodies(module.operation) if _is_key(op)
        }
        for function in module.functions:
            labels = _labels(function)
            for value in _open_values(function):
                attach(value, _not_in(taken, f"{function.sym_name}/{_label(value, labels, function)}"))


def attach_keys(module: Module) -> None:
    """Put the attribute ``quant.key`` on regions, loops, branches, and operations that compute operands of regions.

    A region or operation gets the key of the `quant.stats_ref` on its first result. Without one, it gets the key that
    `attach-stats-ref` would give this result. The key of a loop or branch is `function/operation.N`.
    """
    require_acyclic(module.operation)
    references = [op for op in outside_bodies(module.operation) if _is_key(op)]
    known = {_origin(op.operands[0]): op.attribute("statsKey", StringAttr).value for op in references}
    taken = set(known.values())
    for function in module.functions:
        labels = _labels(function)
        for operation in labels:
            if KEY in operation.attributes or not _needs_key(operation):
                continue
            if operation.name.startswith(CONTROL):
                key, label = None, labels[operation]
            else:
                value = operation.results[0]
                key, label = known.get(value), _label(value, labels, function)
            if key is None:
                key = _not_in(taken, f"{function.sym_name}/{label}")
            operation.attributes[KEY] = StringAttr(key)


def _needs_key(operation: Operation) -> bool:
    """Return True if an operation is a region, a loop or a branch, or computes an operand of a region."""
    if isinstance(operation, RegionOp):
        return bool(operation.results)
    if operation.name.startswith(CONTROL):
        return bool(operation.regions)
    if not operation.results or operation.name in (*IDENTITIES, "quant.dcast"):
        return False
    return constant_of(operation.results[0]) is None and any(map(_is_read_by_region, operation.results))


def _is_read_by_region(value: Value) -> bool:
    return isinstance(element_of(value.type), FloatType) and any(
        isinstance(user, RegionOp) or (user.name in IDENTITIES and _is_read_by_region(user.results[0]))
        for user in value.users
    )


def _not_in(taken: set[str], key: str) -> str:
    while key in taken:
        key += "'"
    taken.add(key)
    return key


def _is_key(operation: Operation) -> bool:
    return operation.name == "quant.stats_ref"


def _labels(function: FuncOp) -> dict[Operation, str]:
    counts: Counter[str] = Counter()
    labels = {}
    for operation in outside_bodies(function):
        name = operation.kernel if isinstance(operation, RegionOp) else operation.name
        labels[operation] = f"{name}.{counts[name]}"
        counts[name] += 1
    return labels


def _label(value: Value, labels: dict[Operation, str], function: FuncOp) -> str:
    owner = value.owner
    if isinstance(owner, Operation):
        return labels[owner] if len(owner.results) == 1 else f"{labels[owner]}#{value.index}"
    assert isinstance(owner, Block)
    assert owner.parent is not None
    blocks = owner.parent.blocks
    parent = owner.parent.parent
    if parent is function and owner is blocks[0]:
        return function.port_name("inputs", value.index) or f"arg{value.index}"
    inside = "" if parent is function or parent is None else f"{labels[parent]}/"
    return f"{inside}block{blocks.index(owner)}.arg{value.index}"


def _open_values(function: FuncOp) -> list[Value]:
    """Return the distinct float operands and results of regions, in program order, if their range is unknown."""
    values: dict[Value, None] = {}
    for operation in outside_bodies(function):
        if isinstance(operation, RegionOp):
            for value, spec in zip(operation.ports, operation.specs, strict=True):
                if _is_open(value, spec):
                    values[_origin(value)] = None
    return [value for value in values if not _is_known(value)]


def _is_open(value: Value, spec: Type) -> bool:
    """Return True for a float tensor whose specification is its float type or a `!quant.any`, which give no range."""
    element = element_of(value.type)
    if not isinstance(value.type, TensorType) or not isinstance(element, FloatType):
        return False
    return spec is element or isinstance(spec, AnyQuantizedType)


def _origin(value: Value) -> Value:
    """Return the value that a chain of annotations starts from; ``value`` itself if no annotation defines it."""
    while value.operation is not None and value.operation.name in IDENTITIES:
        value = value.operation.operands[0]
    return value


def _is_known(value: Value) -> bool:
    """Return True if a value has a known range: from a constant, a quantized type or an annotation."""
    source = value.operation
    if isinstance(source, RegionOp) and isinstance(source.spec(len(source.operands) + value.index), UniformType):
        return True
    if source is not None and source.name == "quant.dcast":
        return isinstance(element_of(source.operands[0].type), UniformType)
    return constant_of(value) is not None or _has_annotation(value)


def _has_annotation(value: Value) -> bool:
    return any(
        user.name in _NAMED or (user.name in IDENTITIES and _has_annotation(user.results[0])) for user in value.users
    )


def attach(value: Value, key: str) -> None:
    """Insert a `quant.stats_ref` with this key after a value, and replace the other uses of the value by its result."""
    named = Builder.after(value).emit("quant.stats_ref", (value,), (value.type,), {"statsKey": StringAttr(key)})
    if value.operation is not None:
        named.location = value.operation.location
    value.replace_all_uses(named.results[0])
    named.set_operand(0, value)
