"""The source of plans in a saved file. Their kernel calls are bound again, to the weights in the mapped file."""

import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import qrt.kernels as kernels
from qrt._ext.kernels import Executable
from qrt.ops.core import Array, element_dtype, static_shape
from qrt.runtime.plan import Plan, PlanMemory
from qrt.runtime.plan_source import PlanSource
from qrt.runtime.ports import Port
from qrt.runtime.saved.damage import DAMAGE, damaged
from qrt.runtime.saved.entry_table import bind_call
from qrt.runtime.saved.index import MOST_TEXT, check_distinct, check_text
from qrt.runtime.saved.values import decode
from qrt.runtime.values import concrete
from qrt.types import TensorType, parse_type

if TYPE_CHECKING:
    import qrt.ir as ir
    from qrt.runtime.module_source import ModuleSource
    from qrt.runtime.planner.details import PlanDetails


class SavedSource(PlanSource):
    """A function in a saved file, with its saved plans.

    The program's text is parsed only if a plan for other types, the interpreter or a plan's details are needed.
    """

    def __init__(self, path: str, memory: Any, index: Mapping[str, Any]) -> None:
        self._path, self._memory, self._index = path, memory, index
        self.name, self.is_stateful, self.saturating = index["name"], index["stateful"], index["saturating"]
        self.inputs, self.outputs = (tuple(_port(fields) for fields in index[kind]) for kind in ("inputs", "outputs"))
        check_distinct("inputs", [port.name for port in self.inputs])
        check_distinct("outputs", [port.name for port in self.outputs])
        self.plan_fields = {tuple(map(_type, fields["types"])): fields for fields in index["plans"]}
        self.saved_types, self.is_eager = list(self.plan_fields), bool(self.plan_fields)

    @cached_property
    def _module_source(self) -> "ModuleSource":
        # The one import of IR and planner, and only when something needs the text: with them, the first result would
        # not come within 10 ms after `import qrt`.
        from qrt.runtime.module_source import ModuleSource, module_of

        try:
            content = check_text(decode(memoryview(self._index["program"]), self._memory))
            module = module_of(_plain(content["text"]), content["constants"], self._path)
            source = ModuleSource(module, self.name, saturating=self.saturating)
            if (source.inputs, source.outputs) != (self.inputs, self.outputs):
                raise ValueError(f"the arguments or results of {self.name} differ from those in its text")
        except DAMAGE as error:
            raise damaged(self._path, error) from None
        return source

    @property
    def module(self) -> "ir.Module":
        return self._module_source.module

    def plan_module(self, types: Sequence[TensorType]) -> Plan:
        return self._module_source.plan_module(types)

    def text_and_constants(self) -> tuple[str, list[Array]]:
        return self._module_source.text_and_constants()

    def interpret(self, arrays: Sequence[Array], max_steps: int | None, state: dict[str, Array]) -> list[Array]:
        return self._module_source.interpret(arrays, max_steps, state)

    def __reduce__(self) -> tuple[Any, ...]:
        return self._module_source.__reduce__()

    def plan(self, types: Sequence[TensorType]) -> Plan:
        fields = self.plan_fields.get(tuple(types))
        if fields is None:
            return self.plan_module(types)
        try:
            return self._saved_plan(types, fields)
        except DAMAGE as error:
            raise damaged(self._path, error) from None

    def _saved_plan(self, types: Sequence[TensorType], fields: Mapping[str, Any]) -> Plan:
        """Return the plan that the file has for these input types, from its decoded fields.

        Raise ValueError if the fields do not fit each other.
        """
        isa = kernels.active()
        results = list(map(_type, fields["results"]))
        states: dict[str, Array] = dict(fields["states"])
        check_distinct("states", [name for name, _ in fields["states"]])
        inputs, outputs, arena_bytes, most_rounds = fields["counts"]
        if (inputs, outputs, len(results)) != (len(self.inputs), len(self.outputs), len(self.outputs)):
            raise ValueError(f"a plan has {inputs} inputs, {outputs} results and {len(results)} result types")
        if len(types) != inputs:
            raise ValueError(f"a plan has {inputs} inputs, but {len(types)} input types")
        _check_types([*self.inputs, *self.outputs], [*types, *results])
        _check_externals(fields["externals"], [*types, *results], list(states.values()))
        if len(fields["packed"]) != len(fields["calls"]):
            raise ValueError(
                f"a plan has {len(fields['calls'])} calls, but packed weights for {len(fields['packed'])} calls"
            )
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
                return self.plan_module(types).details

        return Plan(results, states, PlanMemory(arena_bytes, fields["live_bytes"]), executable, load_details)


def _port(fields: tuple[str, str, bool, str]) -> Port:
    name, t, in_place, spelled = fields
    return Port(name, _type(t), in_place, spelled)


def _type(text: str) -> TensorType:
    return parse_type(text, kind=TensorType)


def _check_types(ports: Sequence[Port], types: Sequence[TensorType]) -> None:
    """Raise ValueError if a plan's type of an input or output does not match the program's declared type."""
    for port, t in zip(ports, types, strict=True):
        concrete(port.type, static_shape(t, "plan"), f"{port.name!r} of a plan")
        if t.element != port.type.element:
            raise ValueError(f"{port.name!r} has the type {t} in a plan, but the program declares {port.type}")


def _check_externals(
    externals: Sequence[tuple[Any, tuple[int, ...]]], types: Sequence[TensorType], states: Sequence[Array]
) -> None:
    """Raise ValueError unless a plan's external arrays have the dtypes and shapes of its inputs, results and globals.

    ``types`` has the inputs' types, then the results'; ``states`` has the globals' initial arrays.
    """
    expected = [(element_dtype(t.element), t.shape) for t in types] + [(array.dtype, array.shape) for array in states]
    if len(externals) != len(expected):
        raise ValueError(
            f"a plan has {len(externals)} arrays, but {len(types)} inputs and results and {len(states)} states"
        )
    for number, (given, wanted) in enumerate(zip(externals, expected, strict=True)):
        if given != wanted:
            raise ValueError(
                f"array {number} of a plan is {given[0]} of shape {given[1]}, expected {wanted[0]} of shape {wanted[1]}"
            )


def _places(counts: Sequence[int], bases: Sequence[int], offsets: Sequence[int]) -> list[list[tuple[int, int]]]:
    """Return the (base, offset) of each operand of each call, from the flat lists that `save` wrote."""
    if not sum(counts) == len(bases) == len(offsets):
        raise ValueError(
            f"a plan has {len(bases)} operands and {len(offsets)} offsets, but its calls have {sum(counts)} operands"
        )
    flat = iter(list(zip(bases, offsets, strict=True)))
    return [list(islice(flat, count)) for count in counts]


def _plain(compressed: Any) -> str:
    """Decompress a program's text. Raise ValueError if it is damaged or too long."""
    inflated = zlib.decompressobj()
    try:
        content = inflated.decompress(compressed, MOST_TEXT + 1)
    except zlib.error as error:
        raise ValueError(f"the program's text cannot be decompressed: {error}") from None
    if len(content) > MOST_TEXT:
        raise ValueError(f"the program's text has more than {MOST_TEXT} bytes")
    if not inflated.eof:
        raise ValueError("the program's text is truncated")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ValueError("the program's text is not UTF-8") from None
