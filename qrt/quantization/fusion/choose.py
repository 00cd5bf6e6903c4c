"""The choice of a target's kernel for a value: the kernel that covers the most operations, constants included.

If several kernels cover the same number of operations, the first in the target's order is chosen. The table kernel
`lookup` comes last, with one exception: it is preferred to a clamp if the operand and the result of the clamp have
annotated ranges that need different types. A region that exists already gets the name of a kernel of the target.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import inf
from typing import Any

from qrt.errors import QuantError
from qrt.ir import DenseElementsAttr, StringAttr, Value
from qrt.ir.dialects.quant.region import RegionOp
from qrt.ir.remarks import remark
from qrt.ops import FAMILIES
from qrt.quantization.checking.kernels import violation
from qrt.quantization.checking.regions import RESCALE, ports_of
from qrt.quantization.forms import KernelMatch, is_alone, kernel_names, match_of, matches_of
from qrt.quantization.forms.elements import splat_of
from qrt.quantization.targets.model import Target, TargetKernel
from qrt.quantization.targets.patterns import match_pattern
from qrt.types import FloatType, TensorType, Type, UniformType


@dataclass(frozen=True)
class KernelChoice:
    """The name of a kernel, with the operands and float operations that it would replace."""

    kernel: str
    match: KernelMatch


@dataclass(frozen=True)
class Refusal:
    """A match of an op family that no kernel of the target computes, with the reason."""

    match: KernelMatch
    reason: str


def target_names(match: KernelMatch, target: Target) -> list[str]:
    """Return the names of the target's kernels that compute a match, in the target's order."""
    names = kernel_names(match)
    return list(dict.fromkeys(kernel.name for kernel in target.kernels if kernel.family in names))


def choices_of(value: Value, target: Target, refused: list[Refusal] | None = None) -> Iterator[KernelChoice]:
    """Yield the kernels of a target that compute a value, with the operations that they cover, best first.

    ``refused`` collects the matches of op families for which the target has no kernel, with the reason.
    """
    choices: list[tuple[int, int, int, KernelChoice]] = []
    order = target_order(target)
    for match in matches_of(value):
        names = target_names(match, target)
        fitting = [name for name in names if refusal((name,), len(match.operands), match, target) is None]
        if fitting:
            preference = _preference(target.signatures(fitting[0])[0].family, match, value)
            choices.append((-_size(match), preference, order[fitting[0]], KernelChoice(fitting[0], match)))
        elif refused is not None:
            reason = refusal(names or kernel_names(match), len(match.operands), match, target)
            refused.append(Refusal(match, reason or ""))
    for kernel in target.kernels:
        own = match_pattern(kernel, value) if callable(kernel.pattern) else None
        if own is not None and kernel.ports(len(own.operands), 1) is not None and is_alone(own):
            choices.append((-_size(own), False, order[kernel.name], KernelChoice(kernel.name, own)))
    choices.sort(key=lambda entry: entry[:3])
    for *_, choice in choices:
        reason = _refused(choice.match, value) if choice.match.family in FAMILIES else None
        if reason is None:
            yield choice
        elif refused is not None:
            refused.append(Refusal(choice.match, reason))


def _preference(name: str, match: KernelMatch, value: Value) -> int:
    """Return a sort key for kernels of equal size: 0 for most kernels, 1 for a table, 2 for a clamp that loses a range.

    The operand and the result of a clamp share one type. The annotated range of the result is kept only if it equals
    the annotated range of the operand, or that range after the clamp.
    """
    if FAMILIES[name].traits.tables:
        return 1
    if match.family != "clamp":
        return 0
    before, after = _annotated_range(match.operands[0][0]), _annotated_range(value)
    if before is None or after is None:
        return 0
    low, high = (-inf if match.attributes["min"] is None else match.attributes["min"]), match.attributes["max"]
    clamped = tuple(min(max(end, low), inf if high is None else high) for end in before)
    return 0 if clamped == after or before == after else 2


def _annotated_range(value: Value) -> tuple[float, ...] | None:
    """Return the range `(low, high)` of the `quant.stats` that defines or uses a value; None if there is none."""
    near = [*value.users, *([value.operation] if value.operation is not None else [])]
    annotations = (op.attributes.get("layerStats") for op in near if op.name == "quant.stats")
    return next((tuple(ends.array.tolist()) for ends in annotations if isinstance(ends, DenseElementsAttr)), None)


def target_order(target: Target) -> dict[str, int]:
    """Return, for each kernel name, the position of its first signature in the target."""
    return {kernel.name: number for number, kernel in reversed([*enumerate(target.kernels)])}


def _size(match: KernelMatch) -> int:
    """Return the number of operations that a match covers, including constants that are not operands."""
    given = {value for value, _ in match.operands}
    used = {value for operation in match.operations for value in operation.operands}
    constants = {value for value in used if splat_of(value) is not None}
    return match.size + len(constants - given)


def refusal(names: Sequence[str], operand_count: int, match: KernelMatch | None, target: Target) -> str | None:
    """Return the reason why none of the named kernels of the target has ``operand_count`` operands and one result.

    Returns None if one of them does. ``match`` is the value's match of an op family, which the reason mentions.
    """
    named = [kernel for name in names for kernel in target.signatures(name)]
    if not named:
        return f"target '{target.name}' has no kernel '{names[-1]}'"
    if any(kernel.ports(operand_count, 1) is not None for kernel in named):
        return None
    kernel = named[0]
    extra = operand_count - len(kernel.inputs)
    of = "" if match is None else f" of '{match.family}'"
    if extra > 0:
        declared = FAMILIES[match.family].declaration if match is not None else None
        name = f" ({declared.operand_name(operand_count - 1)})" if declared is not None else ""
        return f"kernel '{kernel.name}' of target '{target.name}' has no port for operand {operand_count - 1}{name}{of}"
    port = kernel.inputs[operand_count] if operand_count < len(kernel.inputs) else kernel.outputs[-1]
    return f"kernel '{kernel.name}' of target '{target.name}' needs port '{port.name}'"


def _refused(match: KernelMatch, value: Value) -> str | None:
    """Return the reason why an op family would reject a match's operands with 8-bit elements; None if it would not."""
    operands = tuple(_stored(operand.type, permutation) for operand, permutation in match.operands)
    return _refused_types(match.family, operands, tuple(match.attributes.items()), _stored(value.type, None))


@lru_cache(maxsize=256)
def _refused_types(
    name: str,
    types: tuple[TensorType | None, ...],
    attributes: tuple[tuple[str, Any], ...],
    result_type: TensorType | None,
) -> str | None:
    """Return the reason why an op family rejects operands of these types; None if it accepts them.

    Results are cached, because networks repeat the same types.
    """
    operands = [type for type in types if type is not None]
    if result_type is None or len(operands) < len(types):
        return "a port is not a ranked tensor of floats"
    family = FAMILIES[name]
    if family.traits.tables:
        return None
    if len(operands) == 3 and family.traits.weights is not None:
        element = operands[2].element
        assert isinstance(element, UniformType)  # by `_stored`
        operands[2] = operands[2].with_(element=element.with_(storage="i32"))
    try:
        inferred = family.resolve(tuple(operands), family.complete(dict(attributes)), result_type)
    except QuantError as error:
        return str(error)
    sizes = zip(inferred.shape or (), result_type.shape or (), strict=False)
    same = inferred.rank == result_type.rank and all(a == b or a is None or b is None for a, b in sizes)
    return None if same else f"{name} has a result of shape {inferred.shape}, not {result_type.shape}"


@lru_cache(maxsize=256)
def _stored(type: Type, permutation: tuple[int, ...] | None) -> TensorType | None:
    """Return the type of a float tensor after quantization to 8 bits and a transpose; None for any other type."""
    if not isinstance(type, TensorType) or type.shape is None or not isinstance(type.element, FloatType):
        return None
    try:
        element = UniformType("i8", type.element, 1.0)
    except QuantError:
        return None
    return TensorType(tuple(type.shape[axis] for axis in permutation or range(len(type.shape))), element)


def _has_own_match(region: RegionOp, kernel: TargetKernel) -> bool:
    """Return True if the target's own pattern for a kernel matches a region's body, with the same operands in order."""
    returned = region.body.terminator.operands
    if not callable(kernel.pattern) or len(returned) != 1 or returned[0].operation is None:
        return False
    match = match_pattern(kernel, returned[0])
    return match is not None and [value for value, _ in match.operands] == region.body.arguments


def retarget(region: RegionOp, target: Target) -> None:
    """Rename a region to a kernel of the target that computes its body, if the target lacks the region's kernel.

    Emits a remark with the reason if there is no such kernel, or if the region's types do not fit the kernel.
    """
    name = region.kernel
    if name in (RESCALE, "linear"):
        return
    count = len(region.operands)
    if refusal((name,), count, None, target) is not None:
        match = match_of(region.body)
        names = target_names(match, target) if match is not None else []
        fitting = [
            *(other for other in names if refusal((other,), count, match, target) is None),
            *(kernel.name for kernel in target.kernels if _has_own_match(region, kernel)),
        ]
        if not fitting:
            known = kernel_names(match) if match is not None else (name,)
            reason = refusal(names or known, count, match, target)
            remark(region, f"'quant.region' op ({name}) does not fit this target: {reason}")
            return
        region.attributes["kernel"] = StringAttr(fitting[0])
    if all(port.is_decided for port in ports_of(region)) and (wrong := violation(region, target)) is not None:
        remark(region, f"'quant.region' op ({region.kernel}) does not fit this target: {wrong}")
