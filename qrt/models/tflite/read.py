"""Reading of TFLite files as checked data classes, in which constants are views of the mapped file."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import ModelError, input_limit, plural, shown
from qrt.models.importing.source import Source, mapped
from qrt.models.tflite import check, schema
from qrt.models.tflite.flatbuffer import Reader
from qrt.models.tflite.model import Model, Operator, Quantization, Signature, Subgraph, Tensor
from qrt.models.tflite.sparsity import Sparsity

_IDENTIFIER = b"TFL3"
_VERSION = 3
_CUSTOM = "CUSTOM"
_BYTES = np.dtype(np.uint8)


def read(source: Source, *, max_bytes: int = 2 << 30) -> Model:
    """Read and check a model from a file.

    Parameters
    ----------
    source : str, PathLike or bytes
        The path of a file, which is mapped and must not change while the model is used; or the bytes of a file.
    max_bytes : int, default 2 GiB
        The largest memory that the description of the model and the declared tensors may take, without constants.

    Returns
    -------
    Model

    Raises
    ------
    ModelError
        If the file is damaged, or breaks a rule that does not depend on an operator's semantics. The error names the
        file, the subgraph, the operator and the tensor.
    FileError
        If the file cannot be read. This error is an OSError too.

    Examples
    --------
    >>> read(b"no model")
    Traceback (most recent call last):
    qrt.errors.ModelError: <bytes>: not a TFLite model: its identifier is b'odel', expected b'TFL3'
    """
    name, data = mapped(source)
    identifier = data[4:8].tobytes()
    if identifier != _IDENTIFIER:
        raise ModelError(f"{name}: not a TFLite model: its identifier is {identifier!r}, expected {_IDENTIFIER!r}")
    reader = Reader(data, name, max_bytes)
    model = _FileReader(reader, reader.root("Model")).model()
    check.check_model(model, max_bytes)
    return model


class _FileReader:
    """Conversion of a file's FlatBuffers tables to data classes."""

    def __init__(self, reader: Reader, root: Mapping[str, Any]) -> None:
        self.reader, self.root, self.name = reader, root, reader.name
        self.dense_bytes = 0  # of sparse tensors, which the file does not bound
        self.buffers = [
            self._buffer(f"buffer {index}", table["offset"], table["size"], table["data"])
            for index, table in enumerate(root["buffers"])
        ]

    def model(self) -> Model:
        """Return the content of the file as data classes."""
        if self.root["version"] != _VERSION:
            raise ModelError(f"{self.name}: its schema must have version {_VERSION}, got {self.root['version']}")
        self.codes = [self._code(index, table) for index, table in enumerate(self.root["operator_codes"])]
        subgraphs = tuple(self._subgraph(index, table) for index, table in enumerate(self.root["subgraphs"]))
        signatures = tuple(map(self._signature, self.root["signature_defs"]))
        return Model(self.name, self.root["version"], self.root["description"], subgraphs, signatures)

    def _buffer(self, place: str, offset: int, size: int, data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Return the bytes of a buffer.

        They are ``data``; or, in a file larger than FlatBuffers offsets allow, the ``size`` bytes at ``offset`` of the
        file.
        """
        if offset <= 1:  # writers use 1 as a placeholder
            return data
        if offset + size > self.reader.data.size:
            raise ModelError(
                f"{self.name}: {place}: the file is damaged or cut short: it has {self.reader.data.size} bytes, "
                f"but refers to {size} bytes from byte {offset} on"
            )
        return self.reader.data[offset : offset + size]

    def _code(self, index: int, table: Mapping[str, Any]) -> tuple[str, int, bool]:
        """Return an operator code's name and version, and True if the operator is a custom one."""
        number = max(table["deprecated_builtin_code"], table["builtin_code"])  # the deprecated field has only 8 bits
        known = schema.operators()
        if number < 0:
            raise ModelError(
                f"{self.name}: operator code {index}: the number of an operator must be at least 0, got {number}"
            )
        if number >= len(known):
            return f"BUILTIN_{number}", table["version"], False
        if known[number] != _CUSTOM:
            return known[number], table["version"], False
        if not table["custom_code"] or table["custom_code"] in known:
            raise ModelError(
                f"{self.name}: operator code {index}: a custom operator must have a name that no built-in operator "
                "has, got "
                f"{shown(table['custom_code'])}"
            )
        return table["custom_code"], table["version"], True

    def _subgraph(self, index: int, table: Mapping[str, Any]) -> Subgraph:
        place = f"{self.name}: subgraph {index}"
        tensors = tuple(self._tensor(place, number, tensor) for number, tensor in enumerate(table["tensors"]))
        operators = tuple(self._operator(place, number, operator) for number, operator in enumerate(table["operators"]))
        inputs, outputs = _tuple(table["inputs"]), _tuple(table["outputs"])
        computed = {*inputs}.union(*(operator.outputs for operator in operators))
        tensors = tuple(_without_elements(tensor) if _is_empty(tensor, computed) else tensor for tensor in tensors)
        return Subgraph(index, table["name"], tensors, operators, inputs, outputs)

    # -- tensors -----------------------------------------------------------------------------------------------------

    def _tensor(self, place: str, index: int, table: Mapping[str, Any]) -> Tensor:
        place = f"{place}, tensor {index} {shown(table['name'])}"
        shape, signature = _tuple(table["shape"]), _tuple(table["shape_signature"])
        elements = check.element_count(place, shape)
        if signature and len(signature) != len(shape):
            raise ModelError(
                f"{place}: its shape_signature must have as many dimensions as its shape, {len(shape)}, got "
                f"{len(signature)}"
            )
        opened = tuple(-1 if open == -1 else size for open, size in zip(signature or shape, shape, strict=True))
        dtype = table["type"].lower()
        quantization = self._quantization(place, table["quantization"], shape, dtype)
        name, is_variable, blocks = table["name"], table["is_variable"], None
        if table["sparsity"] is None:
            data = self._elements(place, table["buffer"], dtype, shape, elements)
        else:
            sparsity = Sparsity(place, table["sparsity"], shape)
            blocks, data = sparsity.blocks, self._sparse(sparsity, table["buffer"], dtype)
        return Tensor(index, name, shape, opened, dtype, quantization, data, is_variable, blocks)

    def _sparse(self, sparsity: Sparsity, index: int, dtype: str) -> npt.NDArray[Any]:
        """Return the elements of a sparse constant as a dense array."""
        if dtype in check.UNSIZED:
            raise ModelError(f"{sparsity.place}: a sparse tensor must have numbers, got {dtype}")
        self.dense_bytes += check.byte_count(dtype, math.prod(sparsity.shape))
        if self.dense_bytes > self.reader.max_bytes:
            limit = input_limit(self.reader.max_bytes)
            raise ModelError(f"{sparsity.place}: the sparse tensors up to this one take more than {limit}")
        stored = self._elements(sparsity.place, index, dtype, (sparsity.count,), sparsity.count)
        if stored is None and sparsity.count:
            raise ModelError(f"{sparsity.place}: a sparse tensor must be constant, but this one has no data")
        return sparsity.densified(np.empty(0, numpy_dtype(dtype)) if stored is None else stored)

    def _elements(
        self, place: str, index: int, dtype: str, shape: tuple[int, ...], elements: int
    ) -> npt.NDArray[Any] | None:
        if index >= max(len(self.buffers), 1):
            raise ModelError(
                f"{place}: buffer {index} does not exist: the file has {plural(len(self.buffers), 'buffer')}, "
                "numbered from 0"
            )
        data = self.buffers[index] if index else None  # buffer 0 means none
        if data is None or not data.size:
            return None
        if dtype in check.UNSIZED:
            return data
        expected = check.byte_count(dtype, elements)
        if data.size != expected:
            shaped = "x".join(map(str, shape)) or "1"
            raise ModelError(
                f"{place}: its data (buffer {index}) must have {expected} bytes for {shaped} elements of {dtype}, "
                f"got {data.size}"
            )
        if dtype in check.PACKED:
            return _unpacked(data, shape)
        return _viewed(data, numpy_dtype(dtype)).reshape(shape)

    def _quantization(
        self, place: str, table: Mapping[str, Any] | None, shape: tuple[int, ...], dtype: str
    ) -> Quantization | None:
        """Return the quantization of an integer tensor, or None if it has no scales.

        For other dtypes the result is None too, because runtimes ignore their quantization.
        """
        if table is None or dtype not in check.ZERO_POINTS:
            return None
        if table["details_type"]:
            raise ModelError(
                f"{place}: its quantization must have scales and zero points alone, but has details of kind "
                f"{table['details_type']}, which qrt does not support"
            )
        scales, zero_points = table["scale"], table["zero_point"]
        if not scales.size:
            return None
        if not zero_points.size:
            zero_points = np.zeros(scales.size, np.int64)
        quantization = Quantization(scales, zero_points, table["quantized_dimension"])
        check.check_quantization(place, quantization, shape, dtype)
        return quantization

    # -- operators ---------------------------------------------------------------------------------------------------

    def _operator(self, place: str, index: int, table: Mapping[str, Any]) -> Operator:
        code = table["opcode_index"]
        if code >= len(self.codes):
            raise ModelError(
                f"{place}, operator {index}: operator code {code} does not exist: the file has "
                f"{plural(len(self.codes), 'operator code')}, numbered from 0"
            )
        name, version, is_custom = self.codes[code]
        place = f"{place}, operator {index} {name}"
        options = {} if is_custom else self._options(place, name, table)
        start, size = table["large_custom_options_offset"], table["large_custom_options_size"]
        custom = self._buffer(place, start, size, table["custom_options"]).tobytes()
        inputs, outputs, intermediates = map(_tuple, (table["inputs"], table["outputs"], table["intermediates"]))
        return Operator(index, name, version, inputs, outputs, intermediates, options, custom, is_custom)

    def _options(self, place: str, name: str, operator: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields of an operator's options table, or the schema's defaults if the file has no such table."""
        if name not in schema.operators():  # an operator of a later schema
            return {}
        own = schema.options_table(name)
        for union in ("builtin_options", "builtin_options2"):
            kind = operator[f"{union}_type"]
            table = schema.union_table(f"{union.title().replace('_', '')}?", kind)
            if kind and table != own:
                raise ModelError(
                    f"{place}: its options must be {own or 'absent'}, got {table or f'options of kind {kind}'}"
                )
            if operator[union] is not None:
                return {field: _option(value) for field, value in operator[union].items()}
        return _defaults(own) if own else {}

    def _signature(self, table: Mapping[str, Any]) -> Signature:
        key = table["signature_key"]
        inputs, outputs = (self._named(key, table[field]) for field in ("inputs", "outputs"))
        return Signature(key, table["subgraph_index"], inputs, outputs)

    def _named(self, key: str, entries: Iterable[Mapping[str, Any]]) -> Mapping[str, int]:
        indices: dict[str, int] = {}
        for entry in entries:
            if entry["name"] in indices:
                raise ModelError(
                    f"{self.name}: signature {shown(key)}: the names of its inputs or outputs must differ, got "
                    f"{shown(entry['name'])} twice"
                )
            indices[entry["name"]] = entry["tensor_index"]
        return indices


def _is_empty(tensor: Tensor, computed: Collection[int]) -> bool:
    """Return True for a constant without elements, such as the shape operand of a RESHAPE to a scalar.

    The file has no bytes for such a constant. ``computed`` has the indices of inputs and of operators' results.
    """
    return 0 in tensor.shape and tensor.data is None and not tensor.is_variable and tensor.index not in computed


def _without_elements(tensor: Tensor) -> Tensor:
    data = np.empty(tensor.shape, _BYTES if tensor.dtype in check.UNSIZED else numpy_dtype(tensor.dtype))
    data.flags.writeable = False
    return replace(tensor, data=data)


def _viewed(data: npt.NDArray[np.uint8], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Return bytes as an array of a dtype: a view if they are aligned for it, else a copy."""
    if dtype.itemsize > 1 and data.ctypes.data % dtype.itemsize:
        return np.frombuffer(data.tobytes(), dtype)
    return data.view(dtype)


def _unpacked(data: npt.NDArray[np.uint8], shape: tuple[int, ...]) -> npt.NDArray[np.int8]:
    """Return 4-bit integers, of which each byte has two (the first in its low half), as an int8 array."""
    halves = np.stack([data << 4, data], axis=-1).view(np.int8) >> 4
    array = halves.ravel()[: math.prod(shape)].reshape(shape)
    array.flags.writeable = False
    return array


@cache
def _defaults(table: str) -> Mapping[str, Any]:
    """Return the options of an operator without a table of options: LiteRT sets all flags to false."""
    return {field.name: field.default is not True and _option(field.default) for field in schema.fields(table)}


def _option(value: Any) -> Any:
    return _tuple(value) if isinstance(value, np.ndarray) else value


def _tuple(vector: npt.NDArray[Any]) -> tuple[Any, ...]:
    return tuple(vector.tolist())


@cache
def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """Return the NumPy dtype for the elements of a tensor of a TFLite dtype: int8 for int4, else the same dtype."""
    if dtype in check.PACKED:
        return np.dtype(np.int8)
    if dtype == "bfloat16":
        import ml_dtypes  # here: few models have such tensors

        return np.dtype(str(np.dtype(ml_dtypes.bfloat16)))
    return np.dtype(dtype)
