"""Canonicalization patterns that give the carried values of `scf.for` and `scf.forall` more static types.

As in upstream, a cast that drops static sizes before the loop moves into the loop. Upstream casts the yielded value
even if its sizes may differ, which is undefined behavior; here an iteration must be known to keep the sizes.
"""

from qrt.ir import Builder, Operation, Value
from qrt.ir.dialects.tensor.canonicalize import cast, cast_source, destinations
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import Type


def _source(value: Value) -> Value | None:
    """Return the operand of the `tensor.cast` that produces a value, if the cast drops static sizes; None otherwise."""
    source = cast_source(value)
    return None if source is None or source.type is value.type else source


def _has_sizes_of(value: Value, other: Value, type: Type) -> bool:
    """Return True if `value` is known to have the sizes of `type`, given that `other` has them.

    The value must have that type, or derive from `other` only by writes, casts, loops and branches that keep the sizes.
    """
    while value is not other and value.type is not type:
        source = value.operation
        if source is None:
            return False
        written = destinations(source)
        if written:
            value = written[value.index]
        elif source.name == "tensor.cast":
            value = source.operands[0]
        elif source.name == "scf.forall":
            value = source.operand_group("outputs")[value.index]
        elif source.name == "scf.for":
            body = source.regions[0].blocks[0]
            if not _has_sizes_of(body.terminator.operands[value.index], body.arguments[1 + value.index], type):
                return False
            value = source.operands[3 + value.index]
        elif source.name == "scf.if":
            ends = [region.blocks[0].last for region in source.regions]
            return all(end is not None and _has_sizes_of(end.operands[value.index], other, type) for end in ends)
        else:
            return False
    return True


def casts_into_for(op: Operation, builder: Builder) -> PatternResult:
    body = op.regions[0].blocks[0]
    for index, result in enumerate(op.results):
        argument, source = body.arguments[1 + index], _source(op.operands[3 + index])
        if source is None or len(result.uses) != 1:
            continue
        if not _has_sizes_of(body.terminator.operands[index], argument, source.type):
            continue
        operands = [*op.operands]
        operands[3 + index] = source
        types = [init.type for init in operands[3:]]
        results = builder.emit(op.name, operands, types, dict(op.attributes), op.take_regions()).results
        _cast_inside(argument, source.type, builder)
        builder.moved(body)
        at_end = builder.at(body.terminator)
        at_end.set_operand(body.terminator, index, cast(at_end, body.terminator.operands[index], source.type))
        replacement = builder.value("tensor.cast", (results[index],), result.type)
        return [*results[:index], replacement, *results[index + 1 :]]
    return None


def _cast_inside(argument: Value, type: Type, builder: Builder) -> None:
    """Change the type of a block argument to `type`, and cast the argument to its former type for all its uses."""
    before, argument.type = argument.type, type
    uses = list(argument.uses)
    inner = Builder.after(argument, builder.observer).value("tensor.cast", (argument,), before)
    for user, index in reversed(uses):
        builder.set_operand(user, index, inner)


def casts_into_forall(op: Operation, builder: Builder) -> PatternResult:
    outputs, body = op.operand_group("outputs"), op.regions[0].blocks[0]
    sources = {index: source for index, value in enumerate(outputs) if (source := _source(value)) is not None}
    if not sources:
        return None
    shared = body.arguments[len(body.arguments) - len(outputs) :]
    for index, source in reversed(sources.items()):
        argument = shared[index]
        into = [(user, at) for user, at in argument.uses if user.parent_operation is body.terminator and at == 1]
        _cast_inside(argument, source.type, builder)
        for user, at in into:
            builder.set_operand(user, at, argument)
    first = len(op.operands) - len(outputs)
    operands = [*op.operands[:first], *(sources.get(index, value) for index, value in enumerate(outputs))]
    types = [value.type for value in operands[first:]]
    results = builder.emit(op.name, operands, types, dict(op.attributes), op.take_regions()).results
    return [cast(builder, value, result.type) for value, result in zip(results, op.results, strict=True)]
