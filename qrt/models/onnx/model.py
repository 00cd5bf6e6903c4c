"""An ONNX model as the file describes it: what the importer, and whoever explains a model, reads.

`qrt.models.onnx.read.read` makes it. Every name that it holds was checked, and local functions are inlined.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from qrt.ops.core import Array

ABSENT = ""
"""The name of an optional operand that is not given."""
Size = int | str | None
"""A dimension: its size, the name of one known only at run time, or None where the file says nothing."""


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """A tensor whose elements the file holds. ``dtype`` is ONNX's name in lower case: "float", "int8", "uint4"...

    ``data`` is read-only, and a view of the file's bytes where these lie as NumPy has them. Elements of less than a
    byte are unpacked.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: Array


@dataclass(frozen=True, eq=False, slots=True)
class ModelPort:
    """An input or an output of a graph, or what the file says of a value. ``shape`` is None where it says no rank."""

    name: str
    dtype: str
    shape: tuple[Size, ...] | None


@dataclass(frozen=True, eq=False, slots=True)
class Operator:
    """A node: ``type`` is the operator's name in its ``domain``, "" for ONNX's own; ``label`` is the node's own name.

    An operand that is absent is `ABSENT`. ``attributes`` are integers, floats, texts, tuples of them, `Tensor` or
    `ModelGraph`. ``opset`` is the version of the domain's operators. One that ``is_folded`` stands for a group of casts
    and an operator on floats.
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
        """The operator's name, with its domain where that is not ONNX's own: "com.microsoft.QGemm"."""
        return f"{self.domain}.{self.type}" if self.domain else self.type

    @property
    def key(self) -> str:
        """The name under which it is registered: "Conv", "com.microsoft::QGemm"."""
        return f"{self.domain}::{self.type}" if self.domain else self.type

    @property
    def graphs(self) -> Iterator["ModelGraph"]:
        """The graphs that its attributes hold."""
        return (value for value in self.attributes.values() if isinstance(value, ModelGraph))

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the tensors that it reads, those among them that only its graphs read."""
        inner = (name for graph in self.graphs for name in graph.reads)
        return tuple(dict.fromkeys((*filter(None, self.inputs), *inner)))


@dataclass(frozen=True, eq=False, slots=True)
class ModelGraph:
    """A graph: operators in the order in which they run. ``constants`` are its initializers by name."""

    name: str
    inputs: tuple[ModelPort, ...]
    outputs: tuple[ModelPort, ...]
    operators: tuple[Operator, ...]
    constants: Mapping[str, Tensor]
    said: Mapping[str, ModelPort] = field(default_factory=dict)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the tensors of other graphs that it reads."""
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
