"""One kernel of a quantized program, as a program of its own: what computes a value that has a key, from the nearest
values that the float program has too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from qrt.errors import ModelError
from qrt.execute.constants import captured
from qrt.execute.program import Program
from qrt.ir import Block, Module, Operation, Region, StringAttr, TypeAttr, Value
from qrt.ir.core.constraints import element_of, with_element
from qrt.ir.core.matching import constant_of
from qrt.ir.core.rewrite import Builder
from qrt.ops.core import Array
from qrt.passes.quantization.export.tags import CAUSE
from qrt.tensor.arrays import as_array
from qrt.types import FunctionType, Type, UniformType

_NAME = "kernel"


@dataclass(frozen=True, eq=False)
class Entry:
    """What a slice reads: a value with a name, and the value of the slice that stands for it, whose type says how it is
    quantized."""

    name: str
    value: Value


@dataclass(eq=False)
class Slice:
    """The operations between entries and a value, in program order. ``constants`` are the quantized ones, in the order
    in which operations take them."""

    result: Value
    entries: list[Entry] = field(default_factory=list)
    constants: list[Value] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


def sliced(result: Value, names: Mapping[Value, str], order: Mapping[Operation, int]) -> Slice:
    """The slice of a value, backwards to values that have names. A value that was rescaled counts as the one that it
    was before: it is read in the type to which it was rescaled."""
    found = Slice(result)
    operations: dict[Operation, None] = {}
    seen: set[Value] = set()
    pending = [result]
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        name = None if value is result else _name_of(value, names, order)
        source = value.operation
        if name is not None:
            found.entries.append(Entry(name, value))
        elif source is None:
            raise ModelError(located(result, "the kernel reads a value of a block, which the float program lacks"))
        else:
            operations[source] = None
            if isinstance(element_of(value.type), UniformType) and _is_constant(source):
                found.constants.append(value)
            pending += reversed(captured(source))
    found.operations = sorted(operations, key=order.__getitem__)
    return found


def _name_of(value: Value, names: Mapping[Value, str], order: Mapping[Operation, int]) -> str | None:
    """The name of a value, or of the one that was rescaled to it."""
    source = value.operation
    if source is None or CAUSE not in source.attributes or value in names:
        return names.get(value)
    read = sliced(value, names, order).entries
    return read[0].name if len(read) == 1 else None


def located(value: Value, message: str) -> str:
    """A message at the operation that gives a value."""
    return message if value.operation is None else value.operation.location.render(message)


def _is_constant(source: Operation) -> bool:
    return source.name == "quant.scast" and constant_of(source.operands[0]) is not None


class Kernel:
    """A slice that runs."""

    def __init__(self, part: Slice, floats: Mapping[str, Type], module: Module) -> None:
        """``floats`` are the types that the entries have in the float program."""
        self.names = [entry.name for entry in part.entries]
        self._floats = floats
        self.function = _function(part, floats)
        self._module = module

    def compile(self) -> Program:
        """Plans it."""
        whole = Module(upstream=self._module.upstream)
        for function in self._module.functions if any(op.name == "func.call" for op in self.function.walk()) else ():
            whole.body.append(function.clone({}))
        whole.body.append(self.function.clone({}))
        return Program(whole, _NAME)


def run(program: Program, arrays: Sequence[Array]) -> Array:
    """What a kernel makes of the float program's values."""
    return as_array(program(*arrays))


def _function(part: Slice, floats: Mapping[str, Type]) -> Operation:
    """The slice as a function of floats, which quantizes them."""
    given = [floats[entry.name] for entry in part.entries]
    block = Block(given)
    assert part.result.operation is not None  # an operation has the key
    builder = Builder(block, None, part.result.operation.location)
    values: dict[Value, Value] = {}
    for entry, argument in zip(part.entries, block.arguments, strict=True):
        values[entry.value] = _quantized(builder, argument, entry.value.type)
    for operation in part.operations:
        builder.insert(operation.clone(values))
    builder.create("func.return", (values[part.result],))
    type = FunctionType(given, [part.result.type])
    said = {"sym_name": StringAttr(_NAME), "function_type": TypeAttr(type)}
    return Builder(Block(()), None, builder.location).create("func.func", (), (), said, [Region([block])])


def _quantized(builder: Builder, value: Value, wanted: Type) -> Value:
    if value.type is wanted:
        return value
    element = element_of(wanted)
    if isinstance(element, UniformType) and with_element(value.type, element) is wanted:
        return builder.value("quant.qcast", (value,), wanted)
    if isinstance(element, UniformType):
        cast = builder.value("tensor.cast", (value,), with_element(wanted, element_of(value.type)))
        return builder.value("quant.qcast", (cast,), wanted)
    return builder.value("tensor.cast", (value,), wanted)
