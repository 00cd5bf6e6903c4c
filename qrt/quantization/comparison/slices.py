"""Slices of a quantized program: the operations that replace one region, compiled as a program of their own.

The inputs of a slice are the nearest values before these operations that the float program computes, too.
"""

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
from qrt.runtime.compilation import compile
from qrt.runtime.program import Program
from qrt.tensor.arrays import as_array
from qrt.types import FunctionType, Type, UniformType

_NAME = "kernel"


@dataclass(frozen=True, eq=False)
class SliceEntry:
    """An input of a slice: a value of the quantized program, and the name of the same value in the float program."""

    name: str
    value: Value


@dataclass(eq=False)
class Slice:
    """The operations that compute a result from input values (``entries``), in program order.

    ``constants`` are the quantized constants that the operations read. ``casts`` are the operations that quantize
    floats.
    """

    result: Value
    entries: list[SliceEntry] = field(default_factory=list)
    constants: list[Value] = field(default_factory=list)
    casts: list[Operation] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)


def sliced(result: Value, names: Mapping[Value, str], order: Mapping[Operation, int]) -> Slice:
    """Return the operations that compute ``result``, traced back to the nearest values that have names.

    ``names`` has the values that the float program also computes, and ``order`` the position of each operation. If an
    input is the result of a rescale, its name is that of the rescale's operand, and its type that of the result.
    """
    part = Slice(result)
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
            part.entries.append(SliceEntry(name, value))
        elif source is None:
            raise ModelError(
                located(result, "the kernel reads a value of a block that the float program does not have")
            )
        else:
            operations[source] = None
            if isinstance(element_of(value.type), UniformType) and _is_constant(source):
                part.constants.append(value)
            elif source.name == "quant.qcast":
                part.casts.append(source)
            pending += reversed(captured(source))
    part.operations = sorted(operations, key=order.__getitem__)
    return part


def _name_of(value: Value, names: Mapping[Value, str], order: Mapping[Operation, int]) -> str | None:
    """Return the name of a value. A value without a name that a rescale computes has the name of the rescale's operand.

    Returns None if neither has a name.
    """
    source = value.operation
    if source is None or CAUSE not in source.attributes or value in names:
        return names.get(value)
    read = sliced(value, names, order).entries
    return read[0].name if len(read) == 1 else None


def located(value: Value, message: str) -> str:
    """Return a message, prefixed with the location of the operation that defines a value."""
    return message if value.operation is None else value.operation.location.render(message)


def _is_constant(source: Operation) -> bool:
    return source.name == "quant.scast" and constant_of(source.operands[0]) is not None


class SliceKernel:
    """A slice, compiled as a program that takes values of the float program as inputs."""

    def __init__(
        self, part: Slice, floats: Mapping[str, Type], module: Module, rounded: Mapping[str, UniformType] | None = None
    ) -> None:
        """Build the function of a slice, which the first run compiles.

        ``floats`` has the types of the inputs in the float program, by name. An input in ``rounded`` is first quantized
        to the type given there, and dequantized.
        """
        self._names = [entry.name for entry in part.entries]
        self._function = _function(part, floats, rounded or {})
        self._module = module

    def is_like(self, other: "SliceKernel") -> bool:
        """Return True if the functions of both slices are equal."""
        return equal(self._function, other._function)

    def as_one_of(self, others: "list[SliceKernel]") -> "SliceKernel":
        """Share the compiled program of an equal kernel in ``others``, and return this kernel.

        Without an equal kernel, this one is appended to ``others``. Kernels are equal, for example, if a function is
        called several times.
        """
        twin = next((other for other in others if self.is_like(other)), None)
        if twin is None:
            others.append(self)
        else:
            self.__dict__["_program"] = twin._program
        return self

    @property
    def names(self) -> Sequence[str]:
        """The names of the slice's inputs, in the order in which the program takes them."""
        return self._names

    @cached_property
    def _program(self) -> Program:
        whole = Module(upstream=self._module.upstream)
        for function in self._module.functions if any(op.name == "func.call" for op in self._function.walk()) else ():
            whole.body.append(function.clone({}))
        whole.body.append(self._function.clone({}))
        return compile(whole, _NAME)

    def run(self, values: Mapping[str, Any]) -> Array:
        """Return the slice's result, computed from values of the float program by name."""
        return as_array(self._program(*(values[name] for name in self._names)))


def _function(part: Slice, floats: Mapping[str, Type], rounded: Mapping[str, UniformType]) -> Operation:
    """Return a slice as a function that takes values of the float program and quantizes them."""
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
    attributes = {"sym_name": StringAttr(_NAME), "function_type": TypeAttr(type)}
    return Builder(Block(()), builder.location).emit("func.func", (), (), attributes, [Region([block])])


def _quantized(builder: Builder, value: Value, wanted: Type) -> Value:
    """Convert a value of the float program to the type ``wanted``, with which the quantized program reads it."""
    if value.type is wanted:
        return value
    given, element = element_of(value.type), element_of(wanted)
    if isinstance(given, UniformType) and given is not element:
        value = builder.value("quant.dcast", (value,), with_element(value.type, given.expressed_type))
    if with_element(value.type, element) is not wanted:
        value = builder.value("tensor.cast", (value,), with_element(wanted, element_of(value.type)))
    return value if value.type is wanted else builder.value("quant.qcast", (value,), wanted)
