"""Loading of saved programs: the kernel calls are bound again, to weights in the mapped file."""

import os
import struct
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import qrt.kernels as kernels
from qrt._ext.kernels import Executable
from qrt.errors import ModelError, QuantError, require
from qrt.ops.core import Array, element_dtype, static_shape
from qrt.runtime.plan import Plan, PlanMemory
from qrt.runtime.plan_source import ModuleSource, PlanSource
from qrt.runtime.ports import Port
from qrt.runtime.program import Program
from qrt.runtime.saved.container import read
from qrt.runtime.saved.entry_table import bind_call
from qrt.runtime.saved.index import check_distinct, check_index
from qrt.runtime.saved.source import module_of
from qrt.runtime.values import concrete
from qrt.types import TensorType, parse_type

if TYPE_CHECKING:
    import qrt.ir as ir
    from qrt.runtime.planner.slots import PlanDetails
    from qrt.runtime.prepare import PreparedFunction

_WRONG = (
    ArithmeticError,
    AttributeError,
    LookupError,
    MemoryError,
    QuantError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
    struct.error,
)
"""The exceptions that damaged data can raise although its checksum is right."""


def load_program(path: str | os.PathLike[str]) -> Program:
    """Load a program that ``Program.save`` wrote. It computes the bits of the saved program on every instruction set.

    The file is mapped. Weights packed for the active instruction set are used in place; for another instruction set
    they are packed again from the file. The file has the plans for the shapes that were planned when the program was
    saved. For other shapes, and for ``timings``, ``coverage`` and ``interpret=True``, the program's text in the file is
    read when it is first needed.

    Parameters
    ----------
    path : str or PathLike
        The file. While the program is in use, the file may be replaced or removed, but not changed in place.

    Returns
    -------
    Program

    Raises
    ------
    FileError
        If the file cannot be read. This error is an OSError too.
    ModelError
        If the file is not a saved program, is damaged, or was saved by another version of qrt or on a machine of
        another byte order. Save it again from the program's text.

    Examples
    --------
    >>> import os, tempfile, qrt
    >>> path = os.path.join(tempfile.mkdtemp(), "double.qrt")
    >>> x = "tensor<2x!quant.uniform<i8:f32, 0.5>>"
    >>> text = f"func.func @double(%x: {x}) -> {x} {{ %0 = qrt.add %x, %x : ({x}, {x}) -> {x} return %0 : {x} }}"
    >>> qrt.compile(text).save(path)
    >>> program = qrt.load_program(path)
    >>> program([1, 2]).storage.tolist()
    [2, 4]
    """
    require(path, (str, os.PathLike), "the path of a program", "a string or a path")
    name = os.fspath(path)
    require(name, str, "the path of a program", "a string or a path")
    try:
        memory, index = read(name)
        return Program(SavedSource(name, memory, check_index(index)))
    except ModelError as error:
        if str(error).startswith(name):
            raise
        raise _damaged(name, error) from None
    except _WRONG as error:
        raise _damaged(name, error) from None


def _damaged(path: str, error: BaseException) -> ModelError:
    reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return ModelError(f"{path}: the file is damaged, or not a saved program: {reason}")


class SavedSource(PlanSource):
    """A function in a saved file, with its saved plans. The program's text is parsed only when something needs it."""

    def __init__(self, path: str, memory: Any, index: Mapping[str, Any]) -> None:
        self._path, self._memory, self._index = path, memory, index
        self.name, self.is_stateful, self.saturating = index["name"], index["stateful"], index["saturating"]
        self.inputs, self.outputs = (tuple(_port(fields) for fields in index[kind]) for kind in ("inputs", "outputs"))
        check_distinct("inputs", [port.name for port in self.inputs])
        check_distinct("outputs", [port.name for port in self.outputs])
        self.plan_fields = {tuple(map(_type, fields["types"])): fields for fields in index["plans"]}
        self.saved_types, self.is_eager = list(self.plan_fields), bool(self.plan_fields)

    @cached_property
    def _text(self) -> ModuleSource:
        try:
            module = module_of(self._index["program"], self._memory, self._path)
            source = ModuleSource(module, self.name, saturating=self.saturating)
            if (source.inputs, source.outputs) != (self.inputs, self.outputs):
                raise ValueError(f"the arguments or results of {self.name} differ from those in its text")
        except _WRONG as error:
            raise _damaged(self._path, error) from None
        return source

    @property
    def module(self) -> "ir.Module":
        return self._text.module

    @property
    def prepared(self) -> "PreparedFunction":
        return self._text.prepared

    def plan(self, types: Sequence[TensorType]) -> Plan:
        fields = self.plan_fields.get(tuple(types))
        if fields is None:
            return self._text.plan(types)
        try:
            return self._saved_plan(types, fields)
        except _WRONG as error:
            raise _damaged(self._path, error) from None

    def _saved_plan(self, types: Sequence[TensorType], fields: Mapping[str, Any]) -> Plan:
        """Return the saved plan for these types. Raise ValueError if its parts do not fit each other."""
        isa = kernels.active()
        results = list(map(_type, fields["results"]))
        states: dict[str, Array] = dict(fields["states"])
        check_distinct("states", [name for name, _ in fields["states"]])
        inputs, outputs, arena_bytes, most_rounds = fields["counts"]
        if (inputs, outputs, len(results)) != (len(self.inputs), len(self.outputs), len(self.outputs)):
            raise ValueError(f"a plan has {inputs} inputs and {outputs} results of {len(results)} types")
        if len(types) != inputs:
            raise ValueError(f"a plan has {inputs} inputs of {len(types)} types")
        _check_types([*self.inputs, *self.outputs], [*types, *results])
        _check_externals(fields["externals"], [*types, *results], list(states.values()))
        if len(fields["packed"]) != len(fields["calls"]):
            raise ValueError(f"a plan has {len(fields['calls'])} calls, and packed weights for {len(fields['packed'])}")
        packed = fields["packed"] if isa == self._index["isa"] else [None] * len(fields["calls"])
        calls = [
            bind_call(name, arguments, isa, stored)
            for (name, arguments), stored in zip(fields["calls"], packed, strict=True)
        ]
        operands = _places(*fields["operands"])
        executable = Executable(
            calls, operands, fields["bases"], fields["externals"], inputs, outputs, arena_bytes, most_rounds
        )

        def load_details() -> "PlanDetails":
            with kernels.use(isa):
                return self._text.plan(types).details

        return Plan(results, states, PlanMemory(arena_bytes, fields["live_bytes"]), executable, load_details)


def _port(fields: tuple[str, str, bool, str]) -> Port:
    name, t, in_place, spelled = fields
    return Port(name, _type(t), in_place, spelled)


def _type(text: str) -> TensorType:
    return parse_type(text, kind=TensorType)


def _check_types(ports: Sequence[Port], types: Sequence[TensorType]) -> None:
    """Raise ValueError if a plan's type for a port does not match the port's declared type."""
    for port, t in zip(ports, types, strict=True):
        concrete(port.type, static_shape(t, "plan"), f"{port.name!r} of a plan")
        if t.element != port.type.element:
            raise ValueError(f"{port.name!r} has the type {t} in a plan, but the program declares {port.type}")


def _check_externals(
    externals: Sequence[tuple[Any, tuple[int, ...]]], types: Sequence[TensorType], states: Sequence[Array]
) -> None:
    """Raise ValueError unless the external arrays of a plan are those of its inputs and results, then of its states."""
    expected = [(element_dtype(t.element), t.shape) for t in types] + [(array.dtype, array.shape) for array in states]
    if len(externals) != len(expected):
        raise ValueError(
            f"a plan has {len(externals)} arrays for {len(types)} inputs and results and {len(states)} states"
        )
    for number, (given, wanted) in enumerate(zip(externals, expected, strict=True)):
        if given != wanted:
            raise ValueError(
                f"array {number} of a plan is {given[0]} of shape {given[1]}, expected {wanted[0]} of shape {wanted[1]}"
            )


def _places(counts: Sequence[int], bases: Sequence[int], offsets: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Return the places of the operands of each call, as (base, offset)."""
    if not sum(counts) == len(bases) == len(offsets):
        raise ValueError(
            f"a plan has {len(bases)} operands at {len(offsets)} offsets, and calls that have {sum(counts)}"
        )
    flat = iter(list(zip(bases, offsets, strict=True)))
    return [list(islice(flat, count)) for count in counts]
