"""The export of a quantized program as an ONNX model of float operators between DequantizeLinear and QuantizeLinear."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, BinaryIO, Literal

import qrt.ir as ir
from qrt.errors import ModelError, QuantError, QuantTypeError
from qrt.files import write_files
from qrt.ir import DenseElementsAttr, Operation, Value
from qrt.ir.core.functions import FuncOp
from qrt.ir.rewriting.rewrite import is_dead
from qrt.models.importing.node import UnsupportedForm
from qrt.models.onnx.exporting.exported_value import ExportedValue, Order, as_unsigned, is_unsigned, restored
from qrt.models.onnx.exporting.graph import LEAST_OPSET, ExportGraph
from qrt.models.onnx.exporting.group import Group
from qrt.models.onnx.exporting.kernels import with_kernels
from qrt.models.onnx.exporting.metadata import annotate
from qrt.models.onnx.exporting.operation_metadata import Entry
from qrt.models.onnx.exporting.programs import ExportedProgram, Programs, text_between
from qrt.models.onnx.exporting.proto import Port, model_of, onnx_package
from qrt.models.onnx.exporting.registry import WRITERS
from qrt.models.onnx.exporting.variables import LOAD, STORE, Variables
from qrt.ops import family_of
from qrt.types import TensorType, Type, UniformType

_SIZES = ("tensor.dim", "tensor.empty", "linalg.fill")
"""Operations of which the writers read only the result's shape."""
_PLAIN = ("arith.", "linalg.", "math.")
"""Dialects of plain numbers. The model's metadata has the text of a function for each of their operations."""
MOST_BYTES = (1 << 31) - 1
"""The largest protobuf message, in bytes."""


def export_file(path: str | PathLike[str], program: ir.Module, function: str | None) -> None:
    """Write a function of a program, by default its main one, as an ONNX file: see `qrt.models.export_onnx`."""
    name = str(path)
    if not name.endswith(".onnx"):
        raise ModelError(f"{name}: the name of an ONNX file must end in .onnx")
    data = onnx_bytes(program, function, name)

    def write(file: BinaryIO) -> None:
        file.write(data)

    write_files([(name, write)])


def onnx_bytes(program: ir.Module, function: str | None = None, name: str = "the program") -> bytes:
    """Return the content of an ONNX file for a function of a program. Error messages begin with ``name``."""
    model = model_proto(program, function, name)
    if model.ByteSize() > MOST_BYTES:
        raise ModelError(f"{name}: the model has {model.ByteSize()} bytes, more than the limit of protobuf, 2 GiB")
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def model_proto(program: ir.Module, function: str | None = None, name: str = "the program") -> Any:
    """Return the ``onnx.ModelProto`` of a function of a program. Error messages begin with ``name``."""
    onnx_package()
    program.verify()
    program, kernels = with_kernels(program)
    chosen = _choose_function(program, function)
    opset = LEAST_OPSET
    while True:
        writer = _Function(program, chosen, opset, kernels)
        writer.walk()
        if writer.graph.refused:
            raise writer.graph.refused.error(f"{name}: cannot export the program: ONNX does not support")
        if writer.graph.needed == opset:
            break
        opset = writer.graph.needed
    model = model_of(writer.graph, writer.name, writer.inputs, writer.outputs)
    annotate(model, writer.graph.entries, writer.quantized_ports, writer.states)
    return model


def _choose_function(program: ir.Module, name: str | None) -> FuncOp:
    functions = {candidate.sym_name: candidate for candidate in program.functions if candidate.regions[0].blocks}
    if name is None:
        name = "main" if "main" in functions or len(functions) != 1 else next(iter(functions))
    if name not in functions:
        raise ModelError(
            f"no function with a body is named {name!r}; the functions of the module are: "
            f"{', '.join(functions) or 'none'}"
        )
    function = functions[name]
    if len(function.regions[0].blocks) > 1:
        raise ModelError(
            f"function {name!r} must have one block, because ONNX has no branches between blocks, got "
            f"{len(function.regions[0].blocks)}"
        )
    return function


class _Function:
    """Exporter of one function to an ONNX graph. It collects the graph's nodes, inputs, outputs and variables."""

    def __init__(self, program: ir.Module, function: FuncOp, opset: int, kernels: Programs) -> None:
        self.kernels = kernels
        self.name = str(function.attributes["sym_name"].python)
        self.block = function.regions[0].blocks[0]
        arguments = _names(function, "inputs", "input", len(self.block.arguments))
        results = _names(function, "results", "output", len(self.block.terminator.operands))
        taken = {*arguments}
        self.results = [result if result not in taken else f"{result}_output" for result in results]
        self.states: dict[str, tuple[str, str]] = {}
        self.graph = ExportGraph(opset, [*arguments, *self.results])
        self.inputs: list[Port] = []
        self.outputs: list[Port] = []
        self.quantized_ports: dict[str, UniformType] = {}
        self.done: set[Operation] = set()
        for name, value in zip(arguments, self.block.arguments, strict=True):
            self._input(name, value)
        try:
            self.variables = Variables(program, self.block)
        except UnsupportedForm as refused:
            raise ModelError(f"ONNX does not support {refused}") from None
        self.inputs += [self._port(*variable) for variable in self.variables.begin(self.graph)]

    def _input(self, name: str, value: Value) -> None:
        try:
            exported = self.graph.exported(value)
        except UnsupportedForm as refused:
            raise ModelError(f"argument {name!r}: ONNX does not support {refused}") from None
        exported.is_unsigned = is_unsigned(value)
        exported.names[exported.canonical] = name
        self.inputs.append(self._port(name, exported))

    def _port(self, name: str, exported: ExportedValue) -> Port:
        kind = exported.data_type
        if kind is None:
            raise ModelError(
                f"input or output {name!r}: ONNX has no type for elements of {exported.type.element.shown()}"
            )
        if isinstance(exported.type.element, UniformType):
            self.quantized_ports[name] = exported.type.element
        return name, kind, exported.shape

    def walk(self) -> None:
        """Export every operation of the function, and its returned values as outputs."""
        for op in self.block:
            if op.name == "func.return":
                self._return(op)
                continue
            try:
                self._write(op)
            except UnsupportedForm as refused:
                self.graph.refused.add(op.name, str(refused), str(op.location))
                self._stand_in(op)

    def _write(self, op: Operation) -> None:
        if op.name == STORE:
            self.variables.store(self.graph, op)
            return
        if is_dead(op) or op.name in _SIZES or not all(isinstance(result.type, TensorType) for result in op.results):
            return
        if op in self.done:
            return
        if op.name == "arith.constant":
            self._constant(op)
        elif op.name == LOAD:
            self.variables.load(self.graph, op)
        elif op.name in ("quant.scast", "tensor.bitcast"):
            self._scast(op)
        else:
            write = WRITERS.get(op.name)
            if write is None:
                raise UnsupportedForm(_elements([*op.operands, *op.results]))
            kernel = self.kernels.get(op)
            group = Group(self.graph, op, _clamp_after(op) if kernel is None else kernel.clamp)
            for value in (group.clamp or op).results:
                self.graph.exported(value).is_unsigned = is_unsigned(value)
            write(group)
            group.close()
            self._record_operation(group)

    def _stand_in(self, op: Operation) -> None:
        """Name the result tensors of an unsupported operation, so that its users can be exported.

        The export goes on in order to report all unsupported operations, and then fails.
        """
        for i, value in enumerate(op.results):
            if isinstance(value.type, TensorType) and value.type.shape is not None:
                exported = self.graph.exported(value)
                exported.names.setdefault(exported.canonical, f"{op.name}#{i}")

    def _constant(self, op: Operation) -> None:
        value = op.attributes["value"]
        if not isinstance(value, DenseElementsAttr):
            raise UnsupportedForm(op.results[0].type.shown())
        exported = self.graph.exported(op.results[0])
        exported.array, exported.is_unsigned = value.array, is_unsigned(op.results[0])
        if exported.is_unsigned:
            exported.array = as_unsigned(value.array, exported.type.element)

    def _scast(self, op: Operation) -> None:
        """Export a `quant.scast` or `tensor.bitcast` without a node: operand and result have the same ONNX tensors."""
        source, exported = self.graph.exported(op.operands[0]), self.graph.exported(op.results[0])
        if exported.data_type is None:
            raise UnsupportedForm(exported.type.element.shown())
        exported.is_unsigned = (source.data_type or "").startswith("U") or is_unsigned(op.results[0])
        if source.array is not None:
            exported.array = restored(source.array, exported)
            return
        if source.data_type != exported.data_type:
            raise UnsupportedForm(f"{source.type.shown()} as {exported.type.shown()}")
        exported.names = source.names

    def _record_operation(self, group: Group) -> None:
        """Record in the model's metadata which operation of the program a group of nodes computes."""
        for i, (name, order) in group.writes.items():
            self.graph.declare(name, group.result(i), order)
        if len(group.writes) < len(group.op.results):
            return
        if group.clamp is not None:
            self.done.add(group.clamp)
        if group.op in self.kernels or group.family is None:
            self._record_program(group, self.kernels.get(group.op) or _own_program(group))
            return
        if not _is_of_family(group):
            return
        defaults = group.family.declaration.defaults
        attributes = {key: value for key, value in group.attributes.items() if value != defaults[key]}
        if "requant" in defaults:
            attributes["requant"] = group.attributes["requant"]
        operands = [
            (*group.reads[i], group.operand(i).type.element) if i in group.reads else None for i in range(group.count)
        ]
        inline = {i: (elements, group.operand(i).type.element) for i, elements in group.inline.items()}
        results = [(name, order, group.result(i).type) for i, (name, order) in sorted(group.writes.items())]
        then = None
        if group.clamp is not None:
            then = {key: bound.python for key, bound in group.clamp.attributes.items() if key in ("min", "max")}
        self.graph.entries.append(Entry(group.name, group.op.name, attributes, operands, results, inline, then))

    def _record_program(self, group: Group, program: ExportedProgram | None) -> None:
        """Record in the metadata a function, as MLIR text, that computes exactly what a group's nodes approximate."""
        if program is None or any(i not in group.reads for i, _ in program.arguments):
            return
        operands: list[tuple[str, Order, Type]] = []
        for i, permutation in program.arguments:
            name, order = group.reads[i]
            if permutation is not None:
                order = tuple(None if axis is None else permutation[axis] for axis in order)
            operands.append((name, order, group.operand(i).type.element))
        results = [(name, order, group.result(i).type) for i, (name, order) in sorted(group.writes.items())]
        self.graph.entries.append(Entry(group.name, "", {}, operands, results, program=program.text))

    def _return(self, op: Operation) -> None:
        given = [(name, self.graph.exported(value)) for name, value in zip(self.results, op.operands, strict=True)]
        for symbol in self.variables.stored:
            name = self.graph.tensors.fresh(f"{symbol}/next")
            self.states[self.variables.inputs[symbol]] = symbol, name
            given.append((name, self.variables.values[symbol]))
        seen = {name for name, _, _ in self.inputs}
        for name, exported in given:
            try:
                self._add_output(name, exported, seen)
            except UnsupportedForm as refused:
                self.graph.refused.add(op.name, str(refused), str(op.location))

    def _add_output(self, name: str, exported: ExportedValue, seen: set[str]) -> None:
        """Add an output to the model.

        The value's tensor is renamed to ``name``. If that tensor is an input, an initializer or another output, an
        Identity copies it instead. ``seen`` has the names of the inputs and of the outputs so far.
        """
        source = self.graph.tensor(exported, exported.canonical, f"{name}/value")
        if source in seen or source in self.graph.initializers:
            node = self.graph.nodes.fresh(f"{name}/Identity")
            self.graph.add("Identity", node, [source], [name])
            order, element = exported.canonical, exported.type.element
            if isinstance(element, UniformType) or not exported.is_unsigned:  # else Identity keeps the sign
                operands, results = [(source, order, element)], [(name, order, exported.type)]
                self.graph.entries.append(Entry(node, "", {}, operands, results))
        else:
            self.graph.rename(source, name)
            exported.names[exported.canonical] = name
        seen.add(name)
        self.outputs.append(self._port(name, exported))


def _own_program(group: Group) -> ExportedProgram | None:
    """Return a program that has only the group's operation; None if the operation's dialect is not in `_PLAIN`."""
    if not group.op.name.startswith(_PLAIN):
        return None
    inputs = {group.op.operands[i]: i for i in sorted(group.reads)}
    text = text_between(list(inputs), [group.op], group.op.results) if inputs else None
    return None if text is None else ExportedProgram(text, tuple((i, None) for i in inputs.values()))


def _is_of_family(group: Group) -> bool:
    """Return True if the operation's family in `qrt` supports the operation's types and attributes.

    During the export, an operation of `qrt` may have float operands, which its family does not support.
    """
    assert group.family is not None
    types, results = (
        tuple(value.type for value in side if isinstance(value.type, TensorType))
        for side in (group.op.operands, group.op.results)
    )
    try:
        group.family.resolve_all(types, group.attributes, results)
    except QuantError:
        return False
    return True


def _names(function: FuncOp, kind: Literal["inputs", "results"], prefix: str, count: int) -> list[str]:
    """Return the names of a function's inputs or results, by default ``prefix`` and a number.

    Raise QuantTypeError if two names are equal.
    """
    names: list[str] = []
    for number in range(count):
        given = function.port_name(kind, number)
        name = f"{prefix}{number}" if given is None else given
        if name in names:
            raise QuantTypeError(f"inputs must have different names, and outputs too, got {name!r} twice")
        names.append(name)
    return names


def _elements(values: Sequence[Value]) -> str:
    """Return the element types of values as text, without duplicates, for an error message."""
    elements: dict[str, None] = {}
    for value in values:
        element = getattr(value.type, "element", value.type)
        elements[f"quantized {element.storage}" if isinstance(element, UniformType) else element.shown()] = None
    return ", ".join(elements) or "without operands"


def _clamp_after(op: Operation) -> Operation | None:
    """Return the clamp that is the only reader of an operation's result, if the two can be exported together.

    Return None in all other cases.
    """
    family = family_of(op)
    if family is None or not family.traits.ends_in_clamp or len(op.results[0].uses) != 1:
        return None
    users = op.results[0].users
    clamp = family_of(users[0])
    if clamp is None or clamp.traits.bounds is None:
        return None
    element = getattr(op.results[0].type, "element", None)
    return users[0] if isinstance(element, UniformType) and element.is_per_layer else None
