"""Upstream's canonicalization patterns of `scf.forall`, and of an `scf.parallel` in another `scf.parallel`."""

from collections.abc import Sequence

from qrt.ir import Block, Builder, Operation, Value
from qrt.ir.core.attributes import Attribute, DenseArrayAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import segments
from qrt.ir.core.matching import defining_op, number_of
from qrt.ir.dialects._regions.trip_counts import trips
from qrt.ir.dialects.scf.canonicalize_branches import keep_arguments
from qrt.ir.dialects.scf.parallel import BOUNDS, mixed_bounds
from qrt.ir.rewriting.rewrite import IN_PLACE, PatternResult
from qrt.ir.text.assembly_elements import DYNAMIC
from qrt.types import IntegerType

_RANGES = ("lowerBound", "upperBound", "step")


class _ForallParts:
    """Parts of an `scf.forall`: its body, parallel insertions, bounds and output operands.

    `bounds` are the lower bounds, the upper bounds and the steps.
    """

    def __init__(self, op: Operation) -> None:
        self.op = op
        self.body = op.regions[0].blocks[0]
        self.insertions: Block = self.body.terminator.regions[0].blocks[0]
        self.bounds = mixed_bounds(op)
        self.outputs = op.operand_group("outputs")

    @property
    def rank(self) -> int:
        return len(self.bounds[0])

    @property
    def shared(self) -> list[Value]:
        return self.body.arguments[self.rank :]

    def trips(self) -> list[int | None]:
        return [
            0 if isinstance(low, Value) and low is high else trips(*map(number_of, (low, high, step)))
            for low, high, step in zip(*self.bounds, strict=True)
        ]

    def given(
        self, bounds: Sequence[Sequence[int | Value]], outputs: Sequence[Value]
    ) -> tuple[list[Value], dict[str, Attribute]]:
        """Return the operands and attributes of the loop rebuilt with these bounds and outputs."""
        dynamic = [[value for value in part if isinstance(value, Value)] for part in bounds]
        attributes: dict[str, Attribute] = dict(self.op.attributes)
        for name, part in zip(BOUNDS, bounds, strict=True):
            stated = tuple(DYNAMIC if isinstance(value, Value) else value for value in part)
            attributes[f"static{name}"] = DenseArrayAttr(IntegerType(64), stated)
        attributes["operandSegmentSizes"] = segments(*map(len, dynamic), len(outputs))
        return [*(value for part in dynamic for value in part), *outputs], attributes

    def rebuilt(
        self, builder: Builder, bounds: Sequence[Sequence[int | Value]], outputs: Sequence[Value]
    ) -> list[Value]:
        """Rebuild the loop with other bounds and outputs, and return its results."""
        operands, attributes = self.given(bounds, outputs)
        types = [value.type for value in outputs]
        return builder.emit("scf.forall", operands, types, attributes, self.op.take_regions()).results


def constant_bounds(op: Operation, builder: Builder) -> PatternResult:
    """Make constant operands static, in the first of three lists that has any: lower bounds, upper bounds, steps."""
    parts = _ForallParts(op)
    for index, part in enumerate(parts.bounds):
        known = [_number_or_value(value) for value in part]
        if known != part:
            parts.bounds[index] = known
            operands, op.attributes = parts.given(parts.bounds, parts.outputs)
            builder.set_operands(op, operands)
            return IN_PLACE
    return None


def _number_or_value(bound: int | Value) -> int | Value:
    number = number_of(bound)
    return bound if number in (None, DYNAMIC) else number


def unread_or_unwritten(op: Operation, builder: Builder) -> PatternResult:
    """Remove an output of an `scf.forall` whose result is unused, or into which nothing is inserted.

    The output's initial value replaces the result.
    """
    parts = _ForallParts(op)
    remaining = []
    for index, (argument, result) in enumerate(zip(parts.shared, op.results, strict=True)):
        is_written = any(insertion.operands[1] is argument for insertion in parts.insertions)
        if result.uses and is_written:
            remaining.append(index)
    if len(remaining) == len(op.results):
        return None
    for index, argument in enumerate(parts.shared):
        if index not in remaining:
            for insertion in parts.insertions:
                if insertion.operands[1] is argument:
                    builder.erase(insertion)
            builder.replace_uses(argument, parts.outputs[index])
    keep_arguments(parts.body, [*range(parts.rank), *(parts.rank + index for index in remaining)])
    new_results = parts.rebuilt(builder, parts.bounds, [parts.outputs[index] for index in remaining])
    results = dict(zip(remaining, new_results, strict=True))
    return [results.get(index, output) for index, output in enumerate(parts.outputs)]


def single_iterations(op: Operation, builder: Builder) -> PatternResult:
    """Remove the dimensions of an `scf.forall` that run one iteration; if no others remain, replace it by its body.

    If a dimension runs no iteration, the loop is replaced by its output operands.
    """
    parts = _ForallParts(op)
    counts = parts.trips()
    if "mapping" in op.attributes:  # its dimensions are assigned to processors
        return None
    if 0 in counts:
        return parts.outputs
    remaining = [index for index, count in enumerate(counts) if count != 1]
    if len(remaining) == len(counts):
        return None
    lower = [_value(bound, builder) for bound in parts.bounds[0]]
    if not remaining:
        return _inlined(parts, lower, builder)
    for index, argument in enumerate(parts.body.arguments[: parts.rank]):
        if index not in remaining:
            builder.replace_uses(argument, lower[index])
    keep_arguments(parts.body, [*remaining, *range(parts.rank, len(parts.body.arguments))])
    results = parts.rebuilt(builder, [[part[index] for index in remaining] for part in parts.bounds], parts.outputs)
    builder.observer.copied(parts.body)
    return results


def _value(bound: int | Value, builder: Builder) -> Value:
    return bound if isinstance(bound, Value) else builder.constant(bound, INDEX)


def _inlined(parts: _ForallParts, lower: Sequence[Value], builder: Builder) -> list[Value]:
    """Replace an `scf.forall` of one iteration by its body, with `lower` as the induction variables.

    The parallel insertions become consecutive `tensor.insert_slice`.
    """
    results, last = list(parts.outputs), parts.body.terminator
    insertions = [(insertion, parts.shared.index(insertion.operands[1])) for insertion in parts.insertions]
    builder.absorb(parts.body, [*lower, *parts.outputs])
    for insertion, index in insertions:
        source, target, *rest = insertion.operands
        operands = [source, results[index], *rest]
        results[index] = builder.value("tensor.insert_slice", operands, target.type, dict(insertion.attributes))
        builder.erase(insertion)
    builder.erase(last)
    return results


def constant_variables(op: Operation, builder: Builder) -> PatternResult:
    """Replace the induction variable of an `scf.forall` by the lower bound, in dimensions that run one iteration."""
    parts = _ForallParts(op)
    arguments = [
        (argument, bound)
        for argument, bound, count in zip(parts.body.arguments, parts.bounds[0], parts.trips(), strict=False)
        if count == 1 and argument.uses
    ]
    if not arguments:
        return None
    for argument, bound in arguments:
        builder.replace_uses(argument, _value(bound, builder))
    return IN_PLACE


def extent_of_result(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `tensor.dim` of a result of an `scf.forall` by a `tensor.dim` of the output operand for that result."""
    loop = defining_op(op.operands[0], "scf.forall")
    if loop is None:
        return None
    output = loop.operand_group("outputs")[op.operands[0].index]
    return [builder.value("tensor.dim", (output, op.operands[1]), INDEX)]


def nested_parallel(op: Operation, builder: Builder) -> PatternResult:
    """Merge an `scf.parallel` that contains only another `scf.parallel` into one with the dimensions of both."""
    body = op.regions[0].blocks[0]
    inner = body.first
    if inner is None or inner.name != "scf.parallel" or inner.next is not body.last or op.results or inner.results:
        return None
    if any(value in body.arguments for value in inner.operands):
        return None
    groups = [[*op.operand_group(name), *inner.operand_group(name)] for name in _RANGES]
    rank = len(body.arguments)
    (region,) = inner.take_regions()
    block = region.blocks[0]
    outer = [Value(INDEX, block, index) for index in range(rank)]
    for argument, value in zip(body.arguments, outer, strict=True):
        builder.replace_uses(argument, value)
    block.set_arguments([*outer, *block.arguments])
    builder.erase(inner)
    attributes: dict[str, Attribute] = {**op.attributes, "operandSegmentSizes": segments(*map(len, groups), 0)}
    builder.emit("scf.parallel", [value for group in groups for value in group], (), attributes, [region])
    return []
