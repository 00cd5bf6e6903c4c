"""An ONNX model as the file describes it, for the importer and for tools that explain models.

`qrt.models.onnx.read.read` creates it: names are checked, and local functions are inlined.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from qrt.ops.core import Array

ABSENT = ""
"""The name of an optional operand that is omitted."""
Size = int | str | None
"""A dimension: its size, or its name if only the run knows the size, or None if the file gives neither."""


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """A tensor whose elements are in the file. ``dtype`` is ONNX's name in lower case: "float", "int8", "uint4"...

    ``data`` is read-only, and a view of the file's bytes if NumPy has the same layout. Elements of less than a byte are
    unpacked.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: Array


@dataclass(frozen=True, eq=False, slots=True)
class ModelPort:
    """An input or output of a graph, or the declared type of a value. ``shape`` is None if the file gives no rank."""

    name: str
    dtype: str
    shape: tuple[Size, ...] | None


@dataclass(frozen=True, eq=False, slots=True)
class Operator:
    """A node: ``type`` is the operator's name in its ``domain``, "" for ONNX's own; ``label`` is the node's own name.

    An omitted operand is `ABSENT`. ``attributes`` are integers, floats, texts, tuples of them, `Tensor` or
    `ModelGraph`. ``opset`` is the version of the domain's operators. ``is_folded`` marks an operator that replaces a
    group of casts and an operator on floats.
    """

    index: int
    domain: str
    type: str
    label: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, Any]
    opset: int
    is_folded: bool = False

    @property
    def name(self) -> str:
        """The operator's name, with its domain unless that is ONNX's own: "com.microsoft.QGemm"."""
        return f"{self.domain}.{self.type}" if self.domain else self.type

    @property
    def key(self) -> str:
        """The name under which it is registered: "Conv", "com.microsoft::QGemm"."""
        return f"{self.domain}::{self.type}" if self.domain else self.type

    @property
    def graphs(self) -> Iterator["ModelGraph"]:
        """The graphs among its attributes."""
        return (value for value in self.attributes.values() if isinstance(value, ModelGraph))

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the tensors that it reads, including those that only its graphs read."""
        inner = (name for graph in self.graphs for name in graph.reads)
        return tuple(dict.fromkeys((*filter(None, self.inputs), *inner)))


@dataclass(frozen=True, eq=False, slots=True)
class ModelGraph:
    """A graph: operators in the order in which they run.

    ``constants`` has its initializers and ``value_info`` the declared types of computed tensors, by name.
    """

    name: str
    inputs: tuple[ModelPort, ...]
    outputs: tuple[ModelPort, ...]
    operators: tuple[Operator, ...]
    constants: Mapping[str, Tensor]
    value_info: Mapping[str, ModelPort] = field(default_factory=dict)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the tensors of enclosing graphs that it reads."""
        own = {port.name for port in self.inputs} | self.constants.keys()
        own.update(name for op in self.operators for name in op.outputs)
        names = (*(name for op in self.operators for name in op.reads), *(port.name for port in self.outputs))
        return tuple(dict.fromkeys(name for name in names if name not in own))


@dataclass(frozen=True, eq=False, slots=True)
class Model:
    """A whole file. ``name`` is for messages. ``opsets`` has the version of each domain's operators."""

    name: str
    ir_version: int
    opsets: Mapping[str, int]
    producer: str
    graph: ModelGraph
    metadata: Mapping[str, str]
