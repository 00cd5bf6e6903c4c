"""The reader of ONNX files: it maps a file into memory, checks it, and inlines local functions.

Constants are views of the mapped bytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from qrt.errors import ModelError, input_limit, plural, shown
from qrt.models.importing.source import Source, mapped
from qrt.models.onnx.check import check_function, check_graph, check_operator_of_function, check_versions
from qrt.models.onnx.model import ABSENT, Model, ModelGraph, ModelPort, Operator
from qrt.models.onnx.protobuf import Message, parse
from qrt.models.onnx.tensors import External, dtype_name, listed, tensor

_OBJECT_BYTES = 400
"""The bytes that a node, an attribute or the description of a value takes in memory at least."""
_MOST_DEPTH = 32
"""The limit of nested function calls, and of nested graphs."""
_MOST_INLINED = 100_000
"""The most nodes that may come from functions: if each calls another one twice, every level doubles their number."""
_CASTS = {("com.microsoft", "QuantizeLinear"), ("com.microsoft", "DequantizeLinear")}
"""The operators of ONNX Runtime's own domain that are imported as ONNX's operators of opset `_OPSET_OF_CASTS`."""
_OPSET_OF_CASTS = 21
_KINDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings", 9: "tensors", 10: "graphs"}
"""The field with an attribute's value, by the attribute's type."""

Names = Callable[[str], str]
"""A mapping from a name inside a function to its name in the graph."""


def read(source: Source, *, max_bytes: int = 2 << 30) -> Model:
    """Read an ONNX file as a description of its graph, with names checked and local functions inlined.

    Parameters
    ----------
    source : str, PathLike or bytes
        A path, or the content of a file. The file, and files with external data in its folder, are mapped into memory,
        and must not change while the model is used.
    max_bytes : int, default 2 GiB
        Two limits: for the memory of the objects that describe the model, without constants, and for the memory of the
        inputs and outputs of the graph.

    Returns
    -------
    Model

    Raises
    ------
    ModelError
        If the file is damaged, or breaks a rule that is independent of its operators. The error names the file, the
        node and the tensor.
    FileError
        If the file cannot be read. It is an OSError too.

    Examples
    --------
    >>> read(b"no model")
    Traceback (most recent call last):
    qrt.errors.ModelError: <bytes>: not an ONNX model, or a damaged one: field 13 has the unknown wire type 6
    """
    name, data = mapped(source)
    folder = None if isinstance(source, bytes) else Path(source).parent
    return _FileReader(parse(data.data, name, max_bytes), name, folder, max_bytes).model()


def read_definition(
    place: str, content: bytes, op: Operator, attributes: Mapping[str, Any], *, max_bytes: int = 2 << 30
) -> ModelGraph:
    """Read the function by which the package `onnx` defines an operator, as a graph.

    The graph is nested in that of the operator: it reads the operator's input tensors by their names, and its outputs
    have the names of the operator's outputs.

    Parameters
    ----------
    place : str
        The position of the operator, for error messages.
    content : bytes
        The definition, as the package serializes it.
    op : Operator
        The operator.
    attributes : mapping
        The operator's attributes, including the defaults of those that the file omits.
    max_bytes : int, default 2 GiB
        The limit of the memory that the objects describing the graph take.

    Returns
    -------
    ModelGraph

    Raises
    ------
    ModelError
        If the operator has more inputs or outputs than its definition.
    """
    function = parse(content, place, max_bytes, "Function")
    reading = _FileReader(function, place, None, max_bytes)
    reading.depth = 1
    key = _domain(function.domain), function.name, ""
    reading.functions[key] = function
    reading.names = {*op.inputs, *op.outputs}
    operators: list[Operator] = []
    reading._inline(place, key, op.inputs, op.outputs, attributes, operators)
    graph = ModelGraph(
        op.name, (), tuple(ModelPort(name, "", None) for name in op.outputs if name), tuple(operators), {}
    )
    check_graph(f"{place}, as the package onnx defines it", graph, max_bytes, frozenset(op.inputs))
    return graph


class _FileReader:
    """A converter of a file's decoded messages to the dataclasses of `qrt.models.onnx.model`."""

    def __init__(self, message: Message, name: str, folder: Path | None, max_bytes: int) -> None:
        self.message, self.name, self.max_bytes = message, name, max_bytes
        self.external = External(folder)
        self.left = max_bytes
        self.depth = 0
        self.functions: dict[tuple[str, str, str], Any] = {}
        self.calls: list[tuple[str, str, str]] = []
        self.given: Mapping[str, Any] = {}
        self.names: set[str] = set()
        """The names of the graph's tensors, which are collected if functions are inlined into it."""
        self.opsets: Mapping[str, int] = {}
        self.inlined = 0

    def model(self) -> Model:
        """Convert and check the whole model."""
        message = self.message
        opsets = self.opsets = self._opsets(message.opset_import)
        check_versions(self.name, message.ir_version, opsets)
        for function in message.functions:
            key = _domain(function.domain), function.name, function.overload
            if key in self.functions:
                raise ModelError(f"{self.name}: function {shown(function.name)} is defined twice")
            check_function(f"{self.name}: function {shown(function.name)}", key[0], self._opsets(function.opset_import))
            self.functions[key] = function
        if not message.has("graph"):
            raise ModelError(f"{self.name}: the model has no graph")
        if self.functions:
            self.names = {*_names(message.graph)}
        graph = self._graph(f"{self.name}: ", message.graph, opsets, _same)
        metadata = {entry.key: entry.value for entry in message.metadata_props}
        model = Model(self.name, message.ir_version, opsets, message.producer_name, graph, metadata)
        check_graph(self.name, graph, self.max_bytes)
        return model

    def _opsets(self, entries: Any) -> dict[str, int]:
        opsets: dict[str, int] = {}
        for entry in entries:
            domain = _domain(entry.domain)
            if opsets.setdefault(domain, entry.version) != entry.version:
                raise ModelError(
                    f"{self.name}: it must import one opset of each domain, but imports two of "
                    f"{shown(domain or 'ai.onnx')}"
                )
        return opsets

    def _charge(self, place: str) -> None:
        self.left -= _OBJECT_BYTES
        if self.left < 0:
            raise ModelError(
                f"{place.rstrip(' ,:')}: the description of the model takes more memory than "
                f"{input_limit(self.max_bytes)}"
            )

    # -- graphs ------------------------------------------------------------------------------------------------------

    def _graph(self, place: str, message: Any, opsets: Mapping[str, int], names: Names) -> ModelGraph:
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise ModelError(
                f"{place.rstrip(' ,:')}: graphs must be nested at most {_MOST_DEPTH} deep, got deeper ones"
            )
        if len(message.sparse_initializer):
            sparse = message.sparse_initializer[0].values.name
            raise ModelError(f"{place.rstrip(' ,:')}: sparse initializers are not supported, got {shown(sparse)}")
        constants = {}
        for entry in message.initializer:
            self._charge(place)
            constant = tensor(place, entry, self.external, names(entry.name))
            if constant.name in constants:
                raise ModelError(
                    f"{place.rstrip(' ,:')}: every initializer must have its own name, got {shown(constant.name)} twice"
                )
            constants[constant.name] = constant
        inputs = tuple(
            self._port(place, "input", entry, names, self.depth > 1)
            for entry in message.input
            if names(entry.name) not in constants
        )
        given = [names(entry.name) for entry in message.input]
        twice = next((name for name in given if given.count(name) > 1), None) if len({*given}) < len(given) else None
        if twice is not None:
            raise ModelError(f"{place.rstrip(' ,:')}: {shown(twice)} is an input twice")
        outputs = tuple(self._port(place, "output", entry, names, True) for entry in message.output)
        stated = {}
        for entry in message.value_info:
            if entry.type.chosen == "tensor_type":
                stated[names(entry.name)] = self._port(place, "value", entry, names, True)
        operators: list[Operator] = []
        for node in message.node:
            self._node(place, node, opsets, names, operators)
        self.depth -= 1
        return ModelGraph(message.name, inputs, outputs, tuple(operators), constants, stated)

    def _port(self, place: str, what: str, message: Any, names: Names, may_follow: bool = False) -> ModelPort:
        self._charge(place)
        place = f"{place}{what} {shown(message.name)}"
        if not message.name:
            raise ModelError(f"{place} has no name")
        kind = message.type.chosen
        if (kind is None and may_follow) or (kind == "sequence_type" and what == "output"):
            # the types in a nested graph follow from its operators, and a program returns the tensor of a ZipMap
            return ModelPort(names(message.name), "", None)
        if kind != "tensor_type":
            words = (kind or "value without a type").removesuffix("_type").replace("_", " ")
            raise ModelError(f"{place}: it must be a tensor, got a {words}")
        tensor_type = message.type.tensor_type
        dtype = "" if may_follow and not tensor_type.elem_type else dtype_name(place, tensor_type.elem_type)
        shape = tuple(map(_size, tensor_type.shape.dim)) if tensor_type.has("shape") else None
        return ModelPort(names(message.name), dtype, shape)

    # -- nodes -------------------------------------------------------------------------------------------------------

    def _node(
        self, place: str, message: Any, opsets: Mapping[str, int], names: Names, operators: list[Operator]
    ) -> None:
        self._charge(place)
        if self.calls:
            self._count_inlined(1)
        domain, index = _domain(message.domain), len(operators)
        label = f" {shown(message.name)}" if message.name else ""
        own = f"{place}node {index} {message.op_type}{label}"
        inputs = tuple(names(name) if name else ABSENT for name in message.input)
        outputs = tuple(names(name) if name else ABSENT for name in message.output)
        attributes = self._attributes(own, message.attribute, opsets, names)
        key = domain, message.op_type, message.overload
        if key in self.functions:
            self._inline(own, key, inputs, outputs, attributes, operators)
            return
        if not message.op_type:
            raise ModelError(f"{own}: a node must name its operator (op_type), but this one has no op_type")
        opset = opsets.get(domain)
        if opset is None:
            raise ModelError(
                f"{own}: the file must import an opset of the domain of this node, {shown(domain or 'ai.onnx')}, "
                "but does not"
            )
        if self.calls and not domain:
            check_operator_of_function(own, message.op_type, opset, self.opsets.get("", opset))
        if (domain, message.op_type) in _CASTS:
            domain, opset = "", _OPSET_OF_CASTS
        operators.append(Operator(index, domain, message.op_type, message.name, inputs, outputs, attributes, opset))

    def _attributes(self, place: str, messages: Any, opsets: Mapping[str, int], names: Names) -> dict[str, Any]:
        attributes: dict[str, Any] = {}
        for message in messages:
            self._charge(place)
            name = message.name
            if name in attributes:
                raise ModelError(f"{place}: attribute {shown(name)} is given twice")
            if not message.ref_attr_name:
                attributes[name] = self._value(f"{place}, attribute {shown(name)}", message, opsets, names)
            elif not self.calls:
                raise ModelError(
                    f"{place}: attribute {shown(name)} refers to the attribute "
                    f"{shown(message.ref_attr_name)} of a function (ref_attr_name), but the node is not in a function"
                )
            elif message.ref_attr_name in self.given:
                value = attributes[name] = self.given[message.ref_attr_name]
                if isinstance(value, ModelGraph):
                    self._count_inlined(sum(1 for _ in islice(_operators(value), _MOST_INLINED)))
        return attributes

    def _value(self, place: str, message: Any, opsets: Mapping[str, int], names: Names) -> Any:
        kind = _KINDS.get(message.type or _kind_of(message))
        if kind is None:
            raise ModelError(f"{place}: attributes of kind {message.type} (type in AttributeProto) are not supported")
        value = getattr(message, kind)
        if kind in ("f", "i", "s"):
            return value
        if kind == "t":
            return tensor(f"{place}, ", value, self.external)
        if kind == "g":
            return self._graph(f"{place}, ", value, opsets, names)
        if kind == "strings":
            return tuple(value)
        if kind in ("tensors", "graphs"):
            raise ModelError(f"{place}: lists of {kind} are not supported")
        return listed(value)

    # -- functions ---------------------------------------------------------------------------------------------------

    def _inline(
        self,
        place: str,
        key: tuple[str, str, str],
        inputs: Sequence[str],
        outputs: Sequence[str],
        given: Mapping[str, Any],
        operators: list[Operator],
    ) -> None:
        """Append the nodes of a function to ``operators``, in place of the node that calls the function.

        ``key`` is the domain, name and overload of the function, and ``given`` has the attributes of the call.
        """
        function = self.functions[key]
        if key in self.calls:
            chain_of_calls = " -> ".join(name for _, name, _ in (*self.calls[self.calls.index(key) :], key))
            raise ModelError(f"{place}: functions must not call each other recursively, got the calls {chain_of_calls}")
        if len(self.calls) >= _MOST_DEPTH:
            raise ModelError(f"{place}: calls of functions must be at most {_MOST_DEPTH} deep, got deeper calls")
        if len(inputs) > len(function.input) or len(outputs) > len(function.output):
            raise ModelError(
                f"{place}: the function has {plural(len(function.input), 'input')} and "
                f"{plural(len(function.output), 'output')}, but is called with {len(inputs)} and {len(outputs)}"
            )
        prefix = f"{next(filter(None, outputs), place)}/"
        outer_names: dict[str, str] = dict(
            zip(function.input, (*inputs, *[ABSENT] * len(function.input)), strict=False)
        )
        if len(outer_names) < len(function.input):
            raise ModelError(f"{place}: the inputs of the function must have different names, but two have the same")
        parameters = frozenset(outer_names)
        copies = []
        for inner, outer in zip(function.output, outputs, strict=False):
            if outer and inner in outer_names:  # an input, or an output that the function lists twice
                copies.append((inner, outer))
            elif outer:
                outer_names[inner] = outer
        opsets = self._opsets(function.opset_import)

        def names(name: str) -> str:
            if name not in outer_names:
                outer_names[name] = self._new_name(f"{prefix}{name}")
            return outer_names[name]

        self.calls.append(key)
        callers, self.given = self.given, {}
        defaults = self._attributes(place, function.attribute_proto, opsets, names)
        self.given = {**defaults, **given}
        for node in function.node:
            written = parameters.intersection(node.output)
            if written:
                raise ModelError(f"{place}: a node of the function must not write its input {shown(min(written))}")
            self._node(f"{place}, ", node, opsets, names, operators)
        for inner, outer in copies:
            opset = opsets.get("", 13)
            operators.append(Operator(len(operators), "", "Identity", "", (outer_names[inner],), (outer,), {}, opset))
        self.given = callers
        self.calls.pop()

    def _new_name(self, name: str) -> str:
        """Return ``name``, with a number appended if a tensor of the file already has that name."""
        candidates = chain([name], (f"{name}_{n}" for n in count(1)))
        free = next(candidate for candidate in candidates if candidate not in self.names)
        self.names.add(free)
        return free

    def _count_inlined(self, nodes: int) -> None:
        self.inlined += nodes
        if self.inlined > _MOST_INLINED:
            raise ModelError(
                f"{self.name}: the model has more than {_MOST_INLINED} nodes, the limit, after its functions are "
                "inlined:"
                " let functions call each other less often"
            )


def _names(graph: Any) -> Iterator[str]:
    """Yield the names of all tensors of a graph's message, including those of nested graphs."""
    for node in graph.node:
        yield from (*node.input, *node.output)
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _names(inner)
    yield from (tensor.name for tensor in (*graph.input, *graph.output, *graph.initializer))


def _operators(graph: ModelGraph) -> Iterator[Operator]:
    """Yield the operators of a graph, including those of nested graphs."""
    for op in graph.operators:
        yield op
        for inner in op.graphs:
            yield from _operators(inner)


def _same(name: str) -> str:
    return name


def _domain(domain: str) -> str:
    return "" if domain == "ai.onnx" else domain


def _size(dimension: Any) -> int | str | None:
    kind = dimension.chosen
    if kind == "dim_param":
        return dimension.dim_param or None
    return None if kind is None or dimension.dim_value < 0 else int(dimension.dim_value)


def _kind_of(attribute: Any) -> int:
    """Return the type number of an attribute whose message has no type, as in files before IR version 2.

    The type is that of the field with the attribute's value, such as ``ints``. Without a value, the number is 0.
    """
    return next((kind for kind, name in _KINDS.items() if _has(attribute, name)), 0)


def _has(attribute: Any, name: str) -> bool:
    return bool(len(getattr(attribute, name)) if name.endswith("s") and name != "s" else attribute.has(name))
