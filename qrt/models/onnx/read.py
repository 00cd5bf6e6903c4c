"""An ONNX file, mapped and checked: the bytes of constants stay in the file's memory. Local functions are inlined."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, count, islice
from pathlib import Path
from typing import Any

from qrt.errors import ModelError, shown
from qrt.models.importing.source import Source, mapped
from qrt.models.onnx.check import check_function, check_graph, check_operator_of_function, check_versions
from qrt.models.onnx.model import ABSENT, Model, ModelGraph, ModelPort, Operator
from qrt.models.onnx.protobuf import Message, parse
from qrt.models.onnx.tensors import External, dtype_name, listed, tensor

_OF_AN_OBJECT = 400
"""Bytes that a node, an attribute or the description of a value takes in memory at least."""
_DEEPEST = 32
"""Functions that may call one another in a chain, and graphs that may stand in one another."""
_MOST_INLINED = 100_000
"""Nodes that may come from functions: where each calls another one twice, their number doubles with each."""
_KINDS = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "floats", 7: "ints", 8: "strings", 9: "tensors", 10: "graphs"}
"""The field of an attribute's value by its type."""

Names = Callable[[str], str]
"""What a name inside a function is called in the graph."""


def read(source: Source, *, max_bytes: int = 2 << 30) -> Model:
    """A model as its file describes it.

    Parameters
    ----------
    source : str, PathLike or bytes
        A path, or the bytes of a file. The file, and those with external data beside it, are mapped, and must not
        change while the model is used.
    max_bytes : int, default 2 GiB
        The limit of what the objects that describe the model, and the tensors that it declares, take in memory.
        Constants do not count.

    Returns
    -------
    Model

    Raises
    ------
    ModelError
        If the file is damaged, or breaks a rule that needs no operator's own knowledge. The error names the file, the
        node and the tensor.
    FileError
        If the file cannot be read. It is an OSError too.

    Examples
    --------
    >>> read(b"no model")
    Traceback (most recent call last):
    qrt.errors.ModelError: <bytes>: it is no ONNX model that can be read: its field 13 is written in the way 6
    """
    name, data = mapped(source)
    folder = None if isinstance(source, bytes) else Path(source).parent
    return _FileReader(parse(data.data, name, max_bytes), name, folder, max_bytes).model()


def read_definition(
    place: str, content: bytes, op: Operator, attributes: Mapping[str, Any], *, max_bytes: int = 2 << 30
) -> ModelGraph:
    """The graph that a function of the package `onnx` is, for an operator that it defines: its inputs are the tensors
    that the operator reads, its outputs have the names of the operator's.

    Parameters
    ----------
    place : str
        Where the operator stands, as errors say it.
    content : bytes
        The definition, as the package writes it.
    op : Operator
        The operator.
    attributes : mapping
        Its attributes, the defaults included.
    max_bytes : int, default 2 GiB
        The limit of what the objects that describe the graph take in memory.

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
    """The dataclasses of a file, made from its messages."""

    def __init__(self, message: Message, name: str, folder: Path | None, max_bytes: int) -> None:
        self.message, self.name, self.max_bytes = message, name, max_bytes
        self.external = External(folder)
        self.left = max_bytes
        self.depth = 0
        self.functions: dict[tuple[str, str, str], Any] = {}
        self.calls: list[tuple[str, str, str]] = []
        self.given: Mapping[str, Any] = {}
        self.names: set[str] = set()
        """The names of the graph's tensors, which are collected where functions are inlined into it."""
        self.opsets: Mapping[str, int] = {}
        self.inlined = 0

    def model(self) -> Model:
        """The whole file."""
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
        made = Model(self.name, message.ir_version, opsets, message.producer_name, graph, metadata)
        check_graph(self.name, graph, self.max_bytes)
        return made

    def _opsets(self, entries: Any) -> dict[str, int]:
        found: dict[str, int] = {}
        for entry in entries:
            domain = _domain(entry.domain)
            if found.setdefault(domain, entry.version) != entry.version:
                raise ModelError(f"{self.name}: it imports two opsets of the domain {shown(domain or 'ai.onnx')}")
        return found

    def _charge(self, place: str) -> None:
        self.left -= _OF_AN_OBJECT
        if self.left < 0:
            raise ModelError(
                f"{place.rstrip(' ,:')}: the description of the model takes more than max_bytes "
                f"(--max-input), {self.max_bytes}"
            )

    # -- graphs ------------------------------------------------------------------------------------------------------

    def _graph(self, place: str, said: Any, opsets: Mapping[str, int], names: Names) -> ModelGraph:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ModelError(f"{place.rstrip(' ,:')}: graphs are nested more than {_DEEPEST} deep")
        if len(said.sparse_initializer):
            sparse = said.sparse_initializer[0].values.name
            raise ModelError(f"{place.rstrip(' ,:')}: tensor {shown(sparse)} is sparse, which is not supported")
        constants = {}
        for each in said.initializer:
            self._charge(place)
            made = tensor(place, each, self.external, names(each.name))
            if made.name in constants:
                raise ModelError(f"{place.rstrip(' ,:')}: tensor {shown(made.name)} is an initializer twice")
            constants[made.name] = made
        inputs = tuple(
            self._port(place, "input", each, names, self.depth > 1)
            for each in said.input
            if names(each.name) not in constants
        )
        given = [names(each.name) for each in said.input]
        twice = next((name for name in given if given.count(name) > 1), None) if len({*given}) < len(given) else None
        if twice is not None:
            raise ModelError(f"{place.rstrip(' ,:')}: {shown(twice)} is an input twice")
        outputs = tuple(self._port(place, "output", each, names, True) for each in said.output)
        stated = {}
        for each in said.value_info:
            if each.type.chosen == "tensor_type":
                stated[names(each.name)] = self._port(place, "value", each, names, True)
        operators: list[Operator] = []
        for node in said.node:
            self._node(place, node, opsets, names, operators)
        self.depth -= 1
        return ModelGraph(said.name, inputs, outputs, tuple(operators), constants, stated)

    def _port(self, place: str, what: str, said: Any, names: Names, may_follow: bool = False) -> ModelPort:
        self._charge(place)
        place = f"{place}{what} {shown(said.name)}"
        if not said.name:
            raise ModelError(f"{place} has no name")
        kind = said.type.chosen
        if kind is None and may_follow:
            return ModelPort(names(said.name), "", None)  # of a graph in another one, whose types follow
        if kind != "tensor_type":
            told = (kind or "value without a type").removesuffix("_type").replace("_", " ")
            raise ModelError(f"{place}: it is a {told}, expected a tensor")
        told = said.type.tensor_type
        dtype = "" if may_follow and not told.elem_type else dtype_name(place, told.elem_type)
        shape = tuple(map(_size, told.shape.dim)) if told.has("shape") else None
        return ModelPort(names(said.name), dtype, shape)

    # -- nodes -------------------------------------------------------------------------------------------------------

    def _node(self, place: str, said: Any, opsets: Mapping[str, int], names: Names, found: list[Operator]) -> None:
        self._charge(place)
        if self.calls:
            self._count_inlined(1)
        domain, index = _domain(said.domain), len(found)
        label = f" {shown(said.name)}" if said.name else ""
        own = f"{place}node {index} {said.op_type}{label}"
        inputs = tuple(names(name) if name else ABSENT for name in said.input)
        outputs = tuple(names(name) if name else ABSENT for name in said.output)
        attributes = self._attributes(own, said.attribute, opsets, names)
        key = domain, said.op_type, said.overload
        if key in self.functions:
            self._inline(own, key, inputs, outputs, attributes, found)
            return
        if not said.op_type:
            raise ModelError(f"{own}: the node has no operator")
        opset = opsets.get(domain)
        if opset is None:
            raise ModelError(f"{own}: the file imports no opset of its domain {shown(domain or 'ai.onnx')}")
        if self.calls and not domain:
            check_operator_of_function(own, said.op_type, opset, self.opsets.get("", opset))
        found.append(Operator(index, domain, said.op_type, said.name, inputs, outputs, attributes, opset))

    def _attributes(self, place: str, said: Any, opsets: Mapping[str, int], names: Names) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for each in said:
            self._charge(place)
            name = each.name
            if name in found:
                raise ModelError(f"{place}: attribute {shown(name)} is given twice")
            if not each.ref_attr_name:
                found[name] = self._value(f"{place}, attribute {shown(name)}", each, opsets, names)
            elif not self.calls:
                raise ModelError(
                    f"{place}: attribute {shown(name)} is that of a function, {shown(each.ref_attr_name)}, but the node"
                    " is not in a function"
                )
            elif each.ref_attr_name in self.given:
                value = found[name] = self.given[each.ref_attr_name]
                if isinstance(value, ModelGraph):
                    self._count_inlined(sum(1 for _ in islice(_operators(value), _MOST_INLINED)))
        return found

    def _value(self, place: str, said: Any, opsets: Mapping[str, int], names: Names) -> Any:
        kind = _KINDS.get(said.type or _kind_of(said))
        if kind is None:
            raise ModelError(f"{place}: it has the kind {said.type}, which is not supported")
        value = getattr(said, kind)
        if kind in ("f", "i", "s"):
            return value
        if kind == "t":
            return tensor(f"{place}, ", value, self.external)
        if kind == "g":
            return self._graph(f"{place}, ", value, opsets, names)
        if kind == "strings":
            return tuple(value)
        if kind in ("tensors", "graphs"):
            raise ModelError(f"{place}: it is a list of {kind}, which is not supported")
        return listed(value)

    # -- functions ---------------------------------------------------------------------------------------------------

    def _inline(
        self,
        place: str,
        key: tuple[str, str, str],
        inputs: Sequence[str],
        outputs: Sequence[str],
        given: Mapping[str, Any],
        found: list[Operator],
    ) -> None:
        """The nodes of a function in place of the node that calls it."""
        function = self.functions[key]
        if key in self.calls:
            chain_of_calls = " -> ".join(name for _, name, _ in (*self.calls[self.calls.index(key) :], key))
            raise ModelError(f"{place}: functions call each other recursively: {chain_of_calls}")
        if len(self.calls) >= _DEEPEST:
            raise ModelError(f"{place}: functions call each other more than {_DEEPEST} deep")
        if len(inputs) > len(function.input) or len(outputs) > len(function.output):
            raise ModelError(
                f"{place}: it has {len(inputs)} inputs and {len(outputs)} outputs, but the function "
                f"{len(function.input)} and {len(function.output)}"
            )
        prefix = f"{next(filter(None, outputs), place)}/"
        outer_names: dict[str, str] = dict(
            zip(function.input, (*inputs, *[ABSENT] * len(function.input)), strict=False)
        )
        if len(outer_names) < len(function.input):
            raise ModelError(f"{place}: the function has two inputs with the same name")
        parameters = frozenset(outer_names)
        copies = []
        for inner, outer in zip(function.output, outputs, strict=False):
            if outer and inner in outer_names:  # an input, or an output that was there before
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
                raise ModelError(f"{place}: the function writes its input {shown(min(written))}")
            self._node(f"{place}, ", node, opsets, names, found)
        for inner, outer in copies:
            opset = opsets.get("", 13)
            found.append(Operator(len(found), "", "Identity", "", (outer_names[inner],), (outer,), {}, opset))
        self.given = callers
        self.calls.pop()

    def _new_name(self, name: str) -> str:
        """A name that no tensor of the file has, for one of a function: this one, or one that begins so."""
        candidates = chain([name], (f"{name}_{n}" for n in count(1)))
        free = next(candidate for candidate in candidates if candidate not in self.names)
        self.names.add(free)
        return free

    def _count_inlined(self, nodes: int) -> None:
        self.inlined += nodes
        if self.inlined > _MOST_INLINED:
            raise ModelError(
                f"{self.name}: inlining the functions makes more than {_MOST_INLINED} nodes, the"
                " limit: let functions call each other less often"
            )


def _names(graph: Any) -> Iterator[str]:
    """The names of all tensors of a graph's message, and of the graphs in it."""
    for node in graph.node:
        yield from (*node.input, *node.output)
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _names(inner)
    yield from (tensor.name for tensor in (*graph.input, *graph.output, *graph.initializer))


def _operators(graph: ModelGraph) -> Iterator[Operator]:
    """The operators of a graph, and those of the graphs in it."""
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


def _kind_of(said: Any) -> int:
    """The kind of an attribute that says none, as files before IR version 2 leave it."""
    return next((kind for kind, name in _KINDS.items() if _has(said, name)), 0)


def _has(said: Any, name: str) -> bool:
    return bool(len(getattr(said, name)) if name.endswith("s") and name != "s" else said.has(name))
