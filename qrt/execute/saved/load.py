"""Loading a saved program: its calls are bound again, to weights that stay where they are in the file."""

import os
import struct
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from qrt import kernels
from qrt._seam import _core
from qrt.errors import KernelError, ModelError, QuantError, require
from qrt.execute.ports import Port, choose, ports
from qrt.execute.program import Program, check_module
from qrt.execute.saved.container import read
from qrt.execute.saved.entry_table import bind_call
from qrt.execute.saved.index import check_distinct, check_index
from qrt.execute.values import concrete
from qrt.ops.core import Array, element_dtype, static_shape
from qrt.types import TensorType, parse_type

if TYPE_CHECKING:
    from qrt import ir
    from qrt.execute.plan import Plan

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
"""What data raises that no program was saved as, though its checksum fits."""


def load_program(path: str | os.PathLike[str]) -> Program:
    """Loads a program that ``Program.save`` wrote. It gives the bits of the program that was saved, on every
    instruction set.

    The file is mapped: weights that are packed for the active instruction set are used where they are, and for another
    one they are packed anew, from what the file holds. Plans of the shapes that were planned when the program was
    saved are in the file; for other shapes, and for what only the program's text says (``timings``, ``coverage``,
    ``interpret=True``), the text is read when it is first needed.

    Parameters
    ----------
    path : str or PathLike
        The file. It may be replaced or removed while the program lives, but not changed in place.

    Returns
    -------
    Program

    Raises
    ------
    FileError
        If the file cannot be read. It is an OSError too.
    ModelError
        If it is no saved program, is damaged, or was saved by another version of qrt or on a machine of another byte
        order: it must be saved again from the program's text.

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
        return _SavedProgram(name, memory, check_index(index))
    except ModelError as error:
        if str(error).startswith(name):
            raise
        raise _damaged(name, error) from None
    except _WRONG as error:
        raise _damaged(name, error) from None


def _damaged(path: str, error: BaseException) -> ModelError:
    said = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
    return ModelError(f"{path}: it is damaged, or nothing that was saved: {said}")


class _SavedProgram(Program):
    """A program out of a file. Its text is read when it is needed."""

    def __init__(self, path: str, memory: Any, index: Mapping[str, Any]) -> None:
        self._path, self._memory, self._index = path, memory, index
        inputs, outputs = ([_port(fields) for fields in index[kind]] for kind in ("inputs", "outputs"))
        check_distinct("inputs", [port.name for port in inputs])
        check_distinct("outputs", [port.name for port in outputs])
        self._set_up(index["name"], tuple(inputs), tuple(outputs), index["stateful"], index["saturating"])
        self._saved = {tuple(map(_type, said["types"])): said for said in index["plans"]}
        if self._saved and all(port.type.has_static_shape for port in self.inputs):
            self._prefer(self._plan([port.type for port in self.inputs]))

    def _planned_types(self) -> list[tuple[TensorType, ...]]:
        return list(dict.fromkeys([*self._saved, *super()._planned_types()]))

    def _built(self, types: Sequence[TensorType]) -> "Plan":
        said = self._saved.get(tuple(types))
        if said is None:
            return super()._built(types)
        try:
            plan = _SavedPlan(self, types, said, self._index["isa"])
        except _WRONG as error:
            raise _damaged(self._path, error) from None
        return cast("Plan", plan)  # it has what a plan has

    @cached_property
    def _module(self) -> "ir.Module":
        from qrt.execute.saved.source import module_of  # here, where the parser is needed

        try:
            module = module_of(self._index["program"], self._memory, self._path)
            check_module(module)
            function = choose(module, self.name)
            if (ports(function, "arg"), ports(function, "result")) != (self.inputs, self.outputs):
                raise ValueError(f"the arguments or results of {self.name} are others in its text")
        except _WRONG as error:
            raise _damaged(self._path, error) from None
        return module

    def _whole(self, plan: "Plan") -> "Plan":
        return plan._full if isinstance(plan, _SavedPlan) else plan

    def built_from_text(self, types: Sequence[TensorType]) -> "Plan":
        """The plan for these types, made from the text."""
        return super()._built(types)


def _port(fields: tuple[str, str, bool, str]) -> Port:
    name, t, in_place, spelled = fields
    return Port(name, _type(t), in_place, spelled)


def _type(text: str) -> TensorType:
    return parse_type(text, kind=TensorType)


class _SavedPlan:
    """A plan of a saved program. What it does not have is asked of the plan that the text gives."""

    def __init__(self, program: _SavedProgram, types: Sequence[TensorType], said: Mapping[str, Any], isa: str) -> None:
        self._program, self._types = program, types
        self.isa = kernels.active()
        self.live_bytes: int = said["live_bytes"]
        results = list(map(_type, said["results"]))
        self.results = [SimpleNamespace(type=t, static_type=t, shape=t.shape) for t in results]
        self.states: dict[str, Array] = dict(said["states"])
        check_distinct("states", [name for name, _ in said["states"]])
        inputs, outputs, self.arena_bytes, most_rounds = said["counts"]
        if (inputs, outputs, len(results)) != (len(program.inputs), len(program.outputs), len(program.outputs)):
            raise ValueError(f"a plan has {inputs} inputs and {outputs} results of {len(results)} types")
        if len(types) != inputs:
            raise ValueError(f"a plan has {inputs} inputs of {len(types)} types")
        _check_types([*program.inputs, *program.outputs], [*types, *results])
        _check_externals(said["externals"], [*types, *results], list(self.states.values()))
        if len(said["packed"]) != len(said["calls"]):
            raise ValueError(f"a plan has {len(said['calls'])} calls, and packed weights for {len(said['packed'])}")
        packed = said["packed"] if isa == self.isa else [None] * len(said["calls"])
        calls = [
            bind_call(name, arguments, self.isa, stored)
            for (name, arguments), stored in zip(said["calls"], packed, strict=True)
        ]
        operands = _places(*said["operands"])
        self.routine = _core.Routine(
            calls, operands, said["bases"], said["externals"], inputs, outputs, self.arena_bytes, most_rounds
        )

    def __getattr__(self, name: str) -> Any:
        return getattr(self._full, name)

    @cached_property
    def _full(self) -> "Plan":
        with kernels.use(self.isa):
            return self._program.built_from_text(self._types)

    def run(
        self, inputs: Sequence[Array], max_steps: int | None = None, tap: Any = None, state: Any = None
    ) -> list[Array]:
        """As ``Plan.run``."""
        try:
            return self.routine.run(tuple(inputs), self.state_arrays({} if state is None else state), max_steps)
        except KernelError as error:
            self._full.raise_located(error)

    def state_arrays(self, state: dict[str, Array]) -> tuple[Array, ...]:
        """As ``Plan.state_arrays``."""
        for name, initial in self.states.items():
            if name not in state:
                state[name] = initial.copy()
        return tuple(state[name] for name in self.states)


def _check_types(ports: Sequence[Port], types: Sequence[TensorType]) -> None:
    """Raise ValueError where a type of a plan is none that the port has."""
    for port, t in zip(ports, types, strict=True):
        concrete(port.type, static_shape(t, "plan"), f"{port.name!r} of a plan")
        if t.element != port.type.element:
            raise ValueError(f"{port.name!r} has the type {t} in a plan, and is {port.type}")


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
    """The places of the operands of each call."""
    if not sum(counts) == len(bases) == len(offsets):
        raise ValueError(
            f"a plan has {len(bases)} operands at {len(offsets)} offsets, and calls that have {sum(counts)}"
        )
    flat = iter(list(zip(bases, offsets, strict=True)))
    return [list(islice(flat, count)) for count in counts]
