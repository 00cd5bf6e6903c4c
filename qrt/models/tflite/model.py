"""A TFLite model as the file describes it: what the importer, and whoever explains a model, reads.

`qrt.models.tflite.read.read` makes it. Every index that it holds was checked.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

ABSENT = -1
"""The index of an optional operand that is not given."""


@dataclass(frozen=True, eq=False, slots=True)
class Quantization:
    """Scales and zero points: one of each for the whole tensor, or one for each index along the axis."""

    scales: npt.NDArray[np.float32]
    zero_points: npt.NDArray[np.int64]
    axis: int


@dataclass(frozen=True, eq=False, slots=True)
class Tensor:
    """A tensor of a subgraph. ``dtype`` is the schema's name in lower case: "float32", "int8", "bool", "resource"...

    ``signature`` is -1 where the file leaves a dimension open, and ``shape`` elsewhere. ``data`` is a read-only view of
    the file, or None for what is computed, an input or state. What NumPy has no type for stays bytes: "int4", "string".
    """

    index: int
    name: str
    shape: tuple[int, ...]
    signature: tuple[int, ...]
    dtype: str
    quantization: Quantization | None
    data: npt.NDArray[Any] | None
    is_variable: bool

    @property
    def is_constant(self) -> bool:
        """Whether the file holds its elements."""
        return self.data is not None


@dataclass(frozen=True, eq=False, slots=True)
class Operator:
    """An operator: ``name`` is TFLite's, or the code of a custom one. An operand that is absent is `ABSENT`.

    ``options`` has each field of the operator's table, by the schema's names; enumerations are names ("SAME"), vectors
    are tuples. A field that the file does not say has the schema's default.
    """

    index: int
    name: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    intermediates: tuple[int, ...]
    options: Mapping[str, Any]
    custom_options: bytes
    is_custom: bool


@dataclass(frozen=True, eq=False, slots=True)
class Subgraph:
    """A function: operators in the order in which they run. ``inputs`` and ``outputs`` index ``tensors``."""

    index: int
    name: str
    tensors: tuple[Tensor, ...]
    operators: tuple[Operator, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]


@dataclass(frozen=True, eq=False, slots=True)
class Signature:
    """A name of a subgraph, and names of its inputs and outputs; they index the subgraph's tensors."""

    key: str
    subgraph: int
    inputs: Mapping[str, int]
    outputs: Mapping[str, int]


@dataclass(frozen=True, eq=False, slots=True)
class Model:
    """A whole file. ``name`` is for messages."""

    name: str
    version: int
    description: str
    subgraphs: tuple[Subgraph, ...]
    signatures: tuple[Signature, ...]
