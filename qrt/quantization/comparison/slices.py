"""One kernel of a quantized program, as a program of its own: what computes a value that has a key, from the nearest
values that the float program has too."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from qrt.errors import ModelError
from qrt.ir import Block, Builder, Module, Operation, Region, StringAttr, TypeAttr, Value, equal
from qrt.ir.core.constraints import element_of, with_element
from qrt.ir.core.matching import constant_of
from qrt.ir.rewriting.constant_folder import captured
from qrt.ops.core import Array
from qrt.quantization.annotations.region_metadata import CAUSE
from qrt.runtime.program import Program
from qrt.tensor.arrays import as_array
from qrt.types import FunctionType, Type, UniformType

_NAME = "kernel"


@dataclass(frozen=True, eq=False)
class SliceEntry:
    """What a slice reads: a value with a name, and the value of the slice that stands for it, whose type says how it is
    quantized."""

    name: str
    value: Value


@dataclass(eq=False)
class Slice:
    """The operations between entries and a value, in program order. ``constants`` are the quantized ones, and ``casts``
    what quantizes floats, both in the order in which operations take them."""

    result: Value
    entries: list[SliceEntry] = field(default_factory=list)
    constants: list[Value] = field(default_factory=list)
    casts: list[Operation] = field(default_factory=list)
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
            found.entries.append(SliceEntry(name, value))
        elif source is None:
            raise ModelError(
                located(result, "the kernel reads a value of a block that the float program does not have")
            )
        else:
            operations[source] = None
            if isinstance(element_of(value.type), UniformType) and _is_constant(source):
                found.constants.append(value)
            elif source.name == "quant.qcast":
                found.casts.append(source)
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


class SliceKernel:
    """A slice that runs on values of the float program."""

    def __init__(
        self, part: Slice, floats: Mapping[str, Type], module: Module, rounded: Mapping[str, UniformType] | None = None
    ) -> None:
        """``floats`` are the types that the entries have in the float program. Those that are ``rounded`` are quantized
        and dequantized first."""
        self._names = [entry.name for entry in part.entries]
        self._function = _function(part, floats, rounded or {})
        self._module = module

    def is_like(self, other: "SliceKernel") -> bool:
        """Whether both compute the same of their entries."""
        return equal(self._function, other._function)

    def as_one_of(self, others: "list[SliceKernel]") -> "SliceKernel":
        """This kernel, whose program is that of another one which is like it. Calls of one function have such."""
        twin = next((each for each in others if self.is_like(each)), None)
        if twin is None:
            others.append(self)
        else:
            self.__dict__["_program"] = twin._program
        return self

    @property
    def names(self) -> Sequence[str]:
        """The values that it reads."""
        return self._names

    @cached_property
    def _program(self) -> Program:
        whole = Module(upstream=self._module.upstream)
        for function in self._module.functions if any(op.name == "func.call" for op in self._function.walk()) else ():
            whole.body.append(function.clone({}))
        whole.body.append(self._function.clone({}))
        return Program(whole, _NAME)

    def run(self, values: Mapping[str, Any]) -> Array:
        """What it makes of values of the float program."""
        return as_array(self._program(*(values[name] for name in self._names)))


def _function(part: Slice, floats: Mapping[str, Type], rounded: Mapping[str, UniformType]) -> Operation:
    """The slice as a function of floats, which quantizes them."""
    given = [floats[entry.name] for entry in part.entries]
    block = Block(given)
    assert part.result.operation is not None  # an operation has the key
    builder = Builder(block, part.result.operation.location)
    values: dict[Value, Value] = {}
    for entry, argument in zip(part.entries, block.arguments, strict=True):
        value = argument
        if entry.name in rounded:
            stored = builder.value("quant.qcast", (value,), with_element(value.type, rounded[entry.name]))
            value = builder.value("quant.dcast", (stored,), argument.type)
        values[entry.value] = _quantized(builder, value, entry.value.type)
    for operation in part.operations:
        builder.insert(operation.clone(values))
    builder.emit("func.return", (values[part.result],))
    type = FunctionType(given, [part.result.type])
    said = {"sym_name": StringAttr(_NAME), "function_type": TypeAttr(type)}
    return Builder(Block(()), builder.location).emit("func.func", (), (), said, [Region([block])])


def _quantized(builder: Builder, value: Value, wanted: Type) -> Value:
    """A value of the float program as the quantized one reads it. What both take quantized may have been rescaled."""
    if value.type is wanted:
        return value
    given, element = element_of(value.type), element_of(wanted)
    if isinstance(given, UniformType) and given is not element:
        value = builder.value("quant.dcast", (value,), with_element(value.type, given.expressed_type))
    if with_element(value.type, element) is not wanted:
        value = builder.value("tensor.cast", (value,), with_element(wanted, element_of(value.type)))
    return value if value.type is wanted else builder.value("quant.qcast", (value,), wanted)
