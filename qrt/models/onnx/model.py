"""An ONNX model as the file describes it, for the importer and for tools that explain models.

`qrt.models.onnx.read.read` creates it, with names checked and local functions inlined.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from qrt.ops.core import Array

ABSENT = ""
"""The name of an optional operand that is omitted."""
Size = int | str | None
"""A dimension: its size, or its name if the size is known only at run time, or None if the file gives neither."""


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """A constant tensor of the file. ``dtype`` is ONNX's name in lower case: "float", "int8", "uint4"...

    ``data`` is read-only, and a view of the file's bytes if NumPy has the same layout. Elements narrower than a byte
    are unpacked to a byte each.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    data: Array


@dataclass(frozen=True, eq=False, slots=True)
class ModelPort:
    """The name, dtype and shape of a graph's input or output, or of a computed tensor, as the file declares them.

    ``dtype`` is "" and ``shape`` None if the file does not declare them.
    """

    name: str
    dtype: str
    shape: tuple[Size, ...] | None


@dataclass(frozen=True, eq=False, slots=True)
class Operator:
    """A node of a graph.

    ``type`` is the operator's name, such as "Conv", in its ``domain``, which is "" for ONNX's own operators; ``label``
    is the node's own name. An omitted operand is `ABSENT`. ``attributes`` are integers, floats, texts, tuples of them,
    `Tensor` or `ModelGraph`. ``opset`` is the version of the domain's operators. ``is_folded`` marks an operator that
    replaces a float operator between DequantizeLinear and QuantizeLinear.
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
        """The operator's name, preceded by its domain unless that is ONNX's own: "Conv", "com.microsoft.QGemm"."""
        return f"{self.domain}.{self.type}" if self.domain else self.type

    @property
    def key(self) -> str:
        """The key of the operator in the registry of importing functions: "Conv", "com.microsoft::QGemm"."""
        return f"{self.domain}::{self.type}" if self.domain else self.type

    @property
    def graphs(self) -> Iterator["ModelGraph"]:
        """The graphs among the node's attributes, such as the body of a Loop."""
        return (value for value in self.attributes.values() if isinstance(value, ModelGraph))

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the tensors that the node reads, as inputs or in the graphs that are its attributes."""
        inner = (name for graph in self.graphs for name in graph.reads)
        return tuple(dict.fromkeys((*filter(None, self.inputs), *inner)))


@dataclass(frozen=True, eq=False, slots=True)
class ModelGraph:
    """A graph: its operators are in the order in which they run.

    ``constants`` maps names to initializers, and ``value_info`` names of computed tensors to their declared types.
    """

    name: str
    inputs: tuple[ModelPort, ...]
    outputs: tuple[ModelPort, ...]
    operators: tuple[Operator, ...]
    constants: Mapping[str, Tensor]
    value_info: Mapping[str, ModelPort] = field(default_factory=dict)

    @property
    def reads(self) -> tuple[str, ...]:
        """The names of the tensors of enclosing graphs that this graph reads."""
        own = {port.name for port in self.inputs} | self.constants.keys()
        own.update(name for op in self.operators for name in op.outputs)
        names = (*(name for op in self.operators for name in op.reads), *(port.name for port in self.outputs))
        return tuple(dict.fromkeys(name for name in names if name not in own))


@dataclass(frozen=True, eq=False, slots=True)
class Model:
    """An ONNX file. ``name`` is its name in messages; ``opsets`` maps each domain to the version of its operators."""

    name: str
    ir_version: int
    opsets: Mapping[str, int]
    producer: str
    graph: ModelGraph
    metadata: Mapping[str, str]
