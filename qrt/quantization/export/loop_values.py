"""Quantized types for values that control flow passes on, such as loop-carried values and results of branches.

Without this step, such a value would be dequantized before a loop or branch, and quantized again by its readers.
"""

from collections.abc import Collection

from qrt.ir import Builder, Module, Operation, Value
from qrt.ir.rewriting.rewrite import erase_dead, replace
from qrt.quantization.export.passed_values import PassedValues, Source, is_cast, source_of
from qrt.types import Type


def carry(module: Module) -> None:
    """Let loops and branches pass on quantized values where the program passes on dequantized floats.

    No computed value changes. A type that would round a passed value is used only if no operation reads the value as a
    float. A loop without iterations returns its initial value. If this may happen, an `arith.select` gives the
    unrounded initial value to operations that read the result as a float.
    """
    passed = PassedValues(module)
    groups = passed.quantized_groups()
    unchanged = {source for group in groups for source in group.sources if passed.is_target_of_same_type(source)}
    initial = [(source, group.type) for group in groups for source in group.sources if passed.keeps_initial(source)]
    fitting = {source for group in groups for source in group.sources if passed.is_fitting(source)}
    for (loop, index), type in initial:
        _choose_initial(loop, index, type, unchanged)
    casts = []
    for group in groups:
        for op, index in group.sources:
            if (op, index) not in unchanged:
                casts.append(op.operands[index].operation)
                _store(op, index, group.type, is_stored=(op, index) in fitting)
    for group in groups:
        for target in group.targets:
            retype(target, group.type, unchanged)
    erase_dead([op for op in casts if op is not None])


def _choose_initial(loop: Operation, index: int, type: Type, unchanged: Collection[Source]) -> None:
    """Let operations that read a loop's result as a float get the unrounded initial value if the loop never runs.

    An `arith.select` chooses between the two. ``unchanged`` has the uses that take the quantized value.
    """
    initial, result = loop.operands[index], loop.results[index - len(loop.operands)]
    readers = [use for use in result.uses if use not in unchanged and not is_cast(use[0], type)]
    predicate = "ult" if "unsignedCmp" in loop.attributes else "slt"
    builder = Builder.after(result)
    runs = builder.create("arith.cmpi", *loop.operands[:2], predicate=predicate).results[0]
    chosen = builder.value("arith.select", (runs, result, initial), result.type)
    for user, number in readers:
        user.set_operand(number, chosen)


def _store(op: Operation, index: int, type: Type, *, is_stored: bool) -> None:
    """Replace a float operand by its quantized value: the operand of its `dcast` if ``is_stored``, or a new `qcast`."""
    value = op.operands[index]
    stored = source_of(value) if is_stored else _quantized(value, type)
    assert stored is not None  # the operand fits
    op.set_operand(index, stored)


def _quantized(value: Value, type: Type) -> Value:
    """Quantize a value right after its definition, and replace the existing casts to this type by the new one."""
    casts = [user for user in value.users if is_cast(user, type)]
    stored = Builder.after(value).value("quant.qcast", (value,), type)
    for cast in casts:
        replace(cast, [stored])
    return stored


def replace_operand(operation: Operation, number: int, stored: Value) -> None:
    """Replace an operand by a quantized value, and erase the operation that defines the old operand if it is unused."""
    old = operation.operands[number].operation
    operation.set_operand(number, stored)
    erase_dead([old] if old is not None else [])


def retype(value: Value, type: Type, unchanged: Collection[Source] = ()) -> None:
    """Change the type of a float value to a quantized type, and add a `quant.dcast` for the uses that need floats.

    The uses in ``unchanged`` take the quantized value.
    """
    expressed, value.type = value.type, type
    uses = [use for use in value.uses if use not in unchanged]
    for user, _ in uses:
        if is_cast(user, type):
            replace(user, [value])
    left = [(user, index) for user, index in uses if user.parent is not None]
    if left:
        expressed_value = Builder.after(value).value("quant.dcast", (value,), expressed)
        for user, index in left:
            user.set_operand(index, expressed_value)
