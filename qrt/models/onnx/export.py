"""A quantized program as a QDQ model of ONNX, which other runtimes open."""

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
"""Ops of which writers read nothing but the shape."""
_PLAIN = ("arith.", "linalg.", "math.")
"""Dialects of plain numbers, whose ops are computed here as the text of a function says it."""
MOST_BYTES = (1 << 31) - 1
"""The largest message of protobuf."""


def export_file(path: str | PathLike[str], program: ir.Module, function: str | None) -> None:
    """Write a program as a model of ONNX (`qrt.models.export_onnx`)."""
    name = str(path)
    if not name.endswith(".onnx"):
        raise ModelError(f"{name}: the name of an ONNX file must end in .onnx")
    data = onnx_bytes(program, function, name)

    def write(file: BinaryIO) -> None:
        file.write(data)

    write_files([(name, write)])


def onnx_bytes(program: ir.Module, function: str | None = None, name: str = "the program") -> bytes:
    """The file of a model. ``name`` is what errors call it."""
    model = model_proto(program, function, name)
    if model.ByteSize() > MOST_BYTES:
        raise ModelError(f"{name}: the model has {model.ByteSize()} bytes, more than the limit of protobuf, 2 GiB")
    data: bytes = model.SerializeToString(deterministic=True)
    return data


def model_proto(program: ir.Module, function: str | None = None, name: str = "the program") -> Any:
    """The ``onnx.ModelProto`` of a program. ``name`` is what errors call it."""
    onnx_package()
    program.verify()
    program, kernels = with_kernels(program)
    chosen = _chosen(program, function)
    opset = LEAST_OPSET
    while True:
        found = _Function(program, chosen, opset, kernels)
        found.walk()
        if found.graph.refused:
            raise found.graph.refused.error(f"{name}: cannot export the program: ONNX does not support")
        if found.graph.needed == opset:
            break
        opset = found.graph.needed
    model = model_of(found.graph, found.name, found.inputs, found.outputs)
    annotate(model, found.graph.entries, found.quantized_ports, found.states)
    return model


def _chosen(program: ir.Module, name: str | None) -> FuncOp:
    functions = {each.sym_name: each for each in program.functions if each.regions[0].blocks}
    if name is None:
        name = "main" if "main" in functions or len(functions) != 1 else next(iter(functions))
    if name not in functions:
        raise ModelError(f"no function is named {name!r}; the module has {', '.join(functions) or 'none'}")
    found = functions[name]
    if len(found.regions[0].blocks) > 1:
        raise ModelError(f"function {name!r} has several blocks, but ONNX has no branches between blocks")
    return found


class _Function:
    """A function that is written for an opset."""

    def __init__(self, program: ir.Module, function: FuncOp, opset: int, kernels: Programs) -> None:
        self.kernels = kernels
        self.name = str(function.attributes["sym_name"].python)
        self.block = function.regions[0].blocks[0]
        arguments = _names(function, "inputs", "input", len(self.block.arguments))
        results = _names(function, "results", "output", len(self.block.terminator.operands))
        taken = {*arguments}
        self.results = [each if each not in taken else f"{each}_output" for each in results]
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
            raise ModelError(str(refused)) from None
        self.inputs += [self._port(*each) for each in self.variables.begin(self.graph)]

    def _input(self, name: str, value: Value) -> None:
        try:
            held = self.graph.held(value)
        except UnsupportedForm as refused:
            raise ModelError(f"argument {name!r}: {refused}") from None
        held.is_unsigned = is_unsigned(value)
        held.names[held.canonical] = name
        self.inputs.append(self._port(name, held))

    def _port(self, name: str, held: ExportedValue) -> Port:
        kind = held.data_type
        if kind is None:
            raise ModelError(f"input or output {name!r}: ONNX has no elements of {held.type.element.shown()}")
        if isinstance(held.type.element, UniformType):
            self.quantized_ports[name] = held.type.element
        return name, kind, held.shape

    def walk(self) -> None:
        """Writes every operation, and the results."""
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
        if is_dead(op) or op.name in _SIZES or not all(isinstance(each.type, TensorType) for each in op.results):
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
            found = WRITERS.get(op.name)
            if found is None:
                raise UnsupportedForm(_elements([*op.operands, *op.results]))
            kernel = self.kernels.get(op)
            group = Group(self.graph, op, _clamp_after(op) if kernel is None else kernel.clamp)
            for value in (group.clamp or op).results:
                self.graph.held(value).is_unsigned = is_unsigned(value)
            found(group)
            group.close()
            self._entry(group)

    def _stand_in(self, op: Operation) -> None:
        """Tensors for results that are not written, so that the walk finds everything else that cannot be."""
        for i, value in enumerate(op.results):
            if isinstance(value.type, TensorType) and value.type.shape is not None:
                held = self.graph.held(value)
                held.names.setdefault(held.canonical, f"{op.name}#{i}")

    def _constant(self, op: Operation) -> None:
        value = op.attributes["value"]
        if not isinstance(value, DenseElementsAttr):
            raise UnsupportedForm(op.results[0].type.shown())
        held = self.graph.held(op.results[0])
        held.array, held.is_unsigned = value.array, is_unsigned(op.results[0])
        if held.is_unsigned:
            held.array = as_unsigned(value.array, held.type.element)

    def _scast(self, op: Operation) -> None:
        """Storage and quantized values are one tensor."""
        source, held = self.graph.held(op.operands[0]), self.graph.held(op.results[0])
        if held.data_type is None:
            raise UnsupportedForm(held.type.element.shown())
        held.is_unsigned = (source.data_type or "").startswith("U") or is_unsigned(op.results[0])
        if source.array is not None:
            held.array = restored(source.array, held)
            return
        if source.data_type != held.data_type:
            raise UnsupportedForm(f"{source.type.shown()} as {held.type.shown()}")
        held.names = source.names

    def _entry(self, group: Group) -> None:
        """Says in the model what the nodes of an op compute."""
        for i, (name, order) in group.writes.items():
            self.graph.declare(name, group.result(i), order)
        if len(group.writes) < len(group.op.results):
            return
        if group.clamp is not None:
            self.done.add(group.clamp)
        if group.op in self.kernels or group.family is None:
            self._program_entry(group, self.kernels.get(group.op) or _own_program(group))
            return
        if not _is_of_family(group):
            return
        defaults = group.family.declaration.defaults
        said = {key: each for key, each in group.attributes.items() if each != defaults[key]}
        if "requant" in defaults:
            said["requant"] = group.attributes["requant"]
        operands = [
            (*group.reads[i], group.operand(i).type.element) if i in group.reads else None for i in range(group.count)
        ]
        inline = {i: (elements, group.operand(i).type.element) for i, elements in group.inline.items()}
        results = [(*each, group.result(i).type) for i, each in sorted(group.writes.items())]
        then = None
        if group.clamp is not None:
            then = {key: each.python for key, each in group.clamp.attributes.items() if key in ("min", "max")}
        self.graph.entries.append(Entry(group.name, group.op.name, said, operands, results, inline, then))

    def _program_entry(self, group: Group, program: ExportedProgram | None) -> None:
        """Says what nodes on floats compute, by the text of a function."""
        if program is None or any(i not in group.reads for i, _ in program.arguments):
            return
        operands: list[tuple[str, Order, Type]] = []
        for i, permutation in program.arguments:
            name, order = group.reads[i]
            if permutation is not None:
                order = tuple(None if axis is None else permutation[axis] for axis in order)
            operands.append((name, order, group.operand(i).type.element))
        results = [(*each, group.result(i).type) for i, each in sorted(group.writes.items())]
        self.graph.entries.append(Entry(group.name, "", {}, operands, results, program=program.text))

    def _return(self, op: Operation) -> None:
        given = [(name, self.graph.held(value)) for name, value in zip(self.results, op.operands, strict=True)]
        for symbol in self.variables.stored:
            name = self.graph.tensors.fresh(f"{symbol}/next")
            self.states[self.variables.inputs[symbol]] = symbol, name
            given.append((name, self.variables.held[symbol]))
        seen = {name for name, _, _ in self.inputs}
        for name, held in given:
            try:
                self._give(name, held, seen)
            except UnsupportedForm as refused:
                self.graph.refused.add(op.name, str(refused), str(op.location))

    def _give(self, name: str, held: ExportedValue, seen: set[str]) -> None:
        """An output."""
        source = self.graph.tensor(held, held.canonical, f"{name}/value")
        if source in seen or source in self.graph.initializers:
            node = self.graph.nodes.fresh(f"{name}/Identity")
            self.graph.add("Identity", node, [source], [name])
            if isinstance(held.type.element, UniformType) or not held.is_unsigned:  # else Identity keeps the sign
                ends = [(source, held.canonical, held.type.element)], [(name, held.canonical, held.type)]
                self.graph.entries.append(Entry(node, "", {}, *ends))
        else:
            self.graph.rename(source, name)
            held.names[held.canonical] = name
        seen.add(name)
        self.outputs.append(self._port(name, held))


def _own_program(group: Group) -> ExportedProgram | None:
    """The function of an op that is no op of `qrt`, of the operands that its nodes read."""
    if not group.op.name.startswith(_PLAIN):
        return None
    inputs = {group.op.operands[i]: i for i in sorted(group.reads)}
    text = text_between(list(inputs), [group.op], group.op.results) if inputs else None
    return None if text is None else ExportedProgram(text, tuple((i, None) for i in inputs.values()))


def _is_of_family(group: Group) -> bool:
    """Whether the op is one that a program may have: float arithmetic is written by the writers of quantized ops."""
    assert group.family is not None
    types, results = (
        tuple(each.type for each in side if isinstance(each.type, TensorType))
        for side in (group.op.operands, group.op.results)
    )
    try:
        group.family.resolve_all(types, group.attributes, results)
    except QuantError:
        return False
    return True


def _names(function: FuncOp, kind: Literal["inputs", "results"], prefix: str, count: int) -> list[str]:
    """The names of ports, each once."""
    names: list[str] = []
    for number in range(count):
        given = function.port_name(kind, number)
        name = f"{prefix}{number}" if given is None else given
        if name in names:
            raise QuantTypeError(f"two inputs or outputs are named {name!r}")
        names.append(name)
    return names


def _elements(values: Sequence[Value]) -> str:
    """The elements of values, each type once: the form of an op that ONNX does not say."""
    found: dict[str, None] = {}
    for value in values:
        element = getattr(value.type, "element", value.type)
        found[f"quantized {element.storage}" if isinstance(element, UniformType) else element.shown()] = None
    return ", ".join(found) or "without operands"


def _clamp_after(op: Operation) -> Operation | None:
    """The clamp that alone reads the result of an op which ends in a clamp to its storage."""
    family = family_of(op)
    if family is None or not family.traits.ends_in_clamp or len(op.results[0].uses) != 1:
        return None
    users = op.results[0].users
    clamp = family_of(users[0])
    if clamp is None or clamp.traits.bounds is None:
        return None
    element = getattr(op.results[0].type, "element", None)
    return users[0] if isinstance(element, UniformType) and element.is_per_layer else None
