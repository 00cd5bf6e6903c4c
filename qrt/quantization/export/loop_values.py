"""Quantized values that loops carry and branches yield.

Without this step they would be dequantized at the end of an iteration and quantized again at the start of the next.
"""

from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects._regions.trip_counts import runs
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.types import Type, UniformType

_BOUNDS = 3
"""The number of operands of `scf.for` before the initial values."""


def carry(module: Module) -> None:
    """Give carried values of `scf.for` and results of `scf.if` the quantized type that they are cast from.

    A loop without iterations yields its initial value, so the initial value is quantized only if every use of the
    loop's values quantizes them.
    """
    for op in reversed(module.operation.walk()):  # inner operations first
        if op.name == "scf.for":
            for number in range(len(op.results)):
                _carry(op, number)
        elif op.name == "scf.if" and all(region.blocks for region in op.regions):
            for number in range(len(op.results)):
                _yield(op, number)


def _carry(loop: Operation, number: int) -> None:
    (block,) = loop.regions[0].blocks
    initial, carried, result = loop.operands[_BOUNDS + number], block.arguments[1 + number], loop.results[number]
    stored = source_of(block.terminator.operands[number])
    if stored is None:
        return
    begun = source_of(initial)
    if begun is None or begun.type is not stored.type:
        if not all(is_cast(user, stored.type) for user in carried.users):
            return
        begun = Builder(loop).value("quant.qcast", (initial,), stored.type)
        if not runs(loop) and not all(is_cast(user, stored.type) for user in result.users):
            _keep_initial(loop, result, initial, stored.type)
    loop.set_operand(_BOUNDS + number, begun)
    end_with(block.terminator, number, stored)
    for value in (carried, result):
        retype(value, stored.type)
    erase_dead([op for op in (initial.operation,) if op is not None])


def _keep_initial(loop: Operation, result: Value, initial: Value, type: Type) -> None:
    """Let the uses of a result that read floats read the initial value if the loop has no iterations."""
    readers = [(user, index) for user, index in result.uses if not is_cast(user, type)]
    builder = Builder.after(result)
    is_less = builder.create(
        "arith.cmpi", *loop.operands[:2], predicate="ult" if "unsignedCmp" in loop.attributes else "slt"
    )
    chosen = builder.value("arith.select", (is_less.results[0], result, initial), result.type)
    for user, index in readers:
        user.set_operand(index, chosen)


def _yield(branch: Operation, number: int) -> None:
    ends = [region.blocks[0].terminator for region in branch.regions]
    stored = [source_of(end.operands[number]) for end in ends]
    first = stored[0]
    if first is None or any(source is None or source.type is not first.type for source in stored):
        return
    for end, value in zip(ends, stored, strict=True):
        assert value is not None  # every branch yields a quantized value
        end_with(end, number, value)
    retype(branch.results[number], first.type)


def end_with(terminator: Operation, number: int, stored: Value) -> None:
    """Replace a terminator's operand, which is a cast, by the quantized value below the cast."""
    cast = terminator.operands[number].operation
    terminator.set_operand(number, stored)
    erase_dead([cast] if cast is not None else [])


def source_of(value: Value) -> Value | None:
    """Return the quantized value that a float value is dequantized from; None if there is none."""
    source = value.operation
    if (
        source is None
        or source.name != "quant.dcast"
        or not isinstance(element_of(source.operands[0].type), UniformType)
    ):
        return None
    return source.operands[0]


def is_cast(user: Operation, type: Type) -> bool:
    """Return True if an operation quantizes to a type by the default rule."""
    return user.name == "quant.qcast" and user.results[0].type is type and not user.attributes


def retype(value: Value, type: Type) -> None:
    """Change a float value to a quantized type, and dequantize it for uses that need floats."""
    expressed, value.type = value.type, type
    others = list(value.uses)
    for user, _ in others:
        if is_cast(user, type):
            replace(user, [value])
    left = [(user, index) for user, index in others if user.parent is not None]
    if left:
        expressed_value = Builder.after(value).value("quant.dcast", (value,), expressed)
        for user, index in left:
            user.set_operand(index, expressed_value)
