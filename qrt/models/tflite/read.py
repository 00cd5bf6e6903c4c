"""Reading of TFLite files as checked data classes, in which constants are views of the mapped file."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
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
_BLOCKWISE = 2
_KINDS = {1: "a custom quantization", 3: "a quantization along several axes"}
"""The kinds of quantization that are not supported, by the code of their table. Any tensor may have the kind 0."""
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
        """Return the bytes of a buffer: ``data``, or if ``offset`` is above 1, ``size`` bytes of the file from there.

        A file that is too large for the offsets of FlatBuffers stores buffers in the second way.
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
        tables = table["tensors"]
        tensors = tuple(self._tensor(place, number, tensor, tables) for number, tensor in enumerate(tables))
        operators = tuple(self._operator(place, number, operator) for number, operator in enumerate(table["operators"]))
        inputs, outputs = _tuple(table["inputs"]), _tuple(table["outputs"])
        computed = {*inputs}.union(*(operator.outputs for operator in operators))
        tensors = tuple(_without_elements(tensor) if _is_empty(tensor, computed) else tensor for tensor in tensors)
        return Subgraph(index, table["name"], tensors, operators, inputs, outputs)

    # -- tensors -----------------------------------------------------------------------------------------------------

    def _tensor(self, place: str, index: int, table: Mapping[str, Any], tables: Sequence[Mapping[str, Any]]) -> Tensor:
        """Return tensor ``index`` of a subgraph from its table. ``tables`` has the tables of all its tensors."""
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
        quantization, kind = None, 0
        if table["quantization"] is not None and dtype in check.ZERO_POINTS:
            kind = table["quantization"]["details_type"]
            if kind == _BLOCKWISE:
                quantization = self._blockwise(place, table["quantization"]["details"], shape, tables)
            elif not kind:
                quantization = _quantization(place, table["quantization"], shape, dtype)
        unsupported = "" if kind in (0, _BLOCKWISE) else _KINDS.get(kind, f"a quantization of the unknown kind {kind}")
        name, is_variable, blocks = table["name"], table["is_variable"], None
        if table["sparsity"] is None:
            data = self._elements(place, table["buffer"], dtype, shape, elements)
        else:
            sparsity = Sparsity(place, table["sparsity"], shape)
            blocks, data = sparsity.blocks, self._sparse(sparsity, table["buffer"], dtype)
        return Tensor(index, name, shape, opened, dtype, quantization, data, is_variable, blocks, unsupported)

    def _sparse(self, sparsity: Sparsity, index: int, dtype: str) -> npt.NDArray[Any]:
        """Return the elements of a sparse constant as a dense array."""
        if dtype in check.UNSIZED:
            raise ModelError(f"{sparsity.place}: a sparse tensor must have numbers, got {dtype}")
        self.dense_bytes += check.byte_count(dtype, math.prod(sparsity.shape))
        if self.dense_bytes > self.reader.max_bytes:
            limit = input_limit(self.reader.max_bytes)
            raise ModelError(
                f"{sparsity.place}: as dense arrays, this sparse tensor and those before it take more than {limit}"
            )
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
            return _unpacked(data, shape, dtype)
        return _viewed(data, numpy_dtype(dtype)).reshape(shape)

    def _blockwise(
        self, place: str, details: Mapping[str, Any] | None, shape: tuple[int, ...], tables: Sequence[Mapping[str, Any]]
    ) -> Quantization:
        """Return the quantization of a matrix that has a scale for each block of elements of a row.

        The scales are the elements of another tensor.
        """
        size, index = (0, -1) if details is None else (details["block_size"], details["scales"])
        if len(shape) != 2 or size < 1 or shape[1] % size:
            raise ModelError(f"{place}: the block size must divide the rows of its shape {list(shape)}, got {size}")
        if details is None or not 0 <= index < len(tables):
            raise ModelError(
                f"{place}: its scales are in tensor {index}, but the subgraph has {plural(len(tables), 'tensor')}"
            )
        if details["zero_points"] > 0:
            raise ModelError(
                f"{place}: its blocks must not have zero points, got those in tensor {details['zero_points']}"
            )
        scales, count = tables[index], shape[0] * (shape[1] // size)
        if scales["type"] != "FLOAT16" or math.prod(_tuple(scales["shape"])) != count or scales["sparsity"] is not None:
            given = f"{scales['type'].lower()} of shape {_tuple(scales['shape'])}"
            raise ModelError(f"{place}: its scales must be {count} numbers of float16, got {given}")
        array = self._elements(f"{place}, tensor {index}", scales["buffer"], "float16", (count,), count)
        if array is None:
            raise ModelError(f"{place}: its scales (tensor {index}) must have data, but have none")
        wide = array.astype(np.float32)
        if not ((wide > 0) & (wide < np.inf)).all():
            raise ModelError(f"{place}: its scales must be positive finite numbers, but one is not")
        matrix = wide.reshape(shape[0], -1)
        return Quantization(matrix, np.zeros(matrix.shape, np.int64), 0, size)

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


def _unpacked(data: npt.NDArray[np.uint8], shape: tuple[int, ...], dtype: str) -> npt.NDArray[Any]:
    """Unpack integers of 2 or 4 bits to one byte each. The first integer has the low-order bits of a packed byte."""
    bits = check.BITS[dtype]
    parts = np.stack([data << (8 - bits - low) for low in range(0, 8, bits)], axis=-1).view(numpy_dtype(dtype))
    array = (parts >> (8 - bits)).ravel()[: math.prod(shape)].reshape(shape)
    array.flags.writeable = False
    return array


def _quantization(place: str, table: Mapping[str, Any], shape: tuple[int, ...], dtype: str) -> Quantization | None:
    """Return a tensor's quantization with one scale, or one for each index of an axis; None if it has no scales."""
    scales, zero_points = table["scale"], table["zero_point"]
    if not scales.size:
        return None
    if not zero_points.size:
        zero_points = np.zeros(scales.size, np.int64)
    quantization = Quantization(scales, zero_points, table["quantized_dimension"])
    check.check_quantization(place, quantization, shape, dtype)
    return quantization


@cache
def _defaults(table: str) -> Mapping[str, Any]:
    """Return the options of an operator for which the file has no table of options.

    These are the schema's defaults, except that all flags are false, as in LiteRT.
    """
    return {field.name: field.default is not True and _option(field.default) for field in schema.fields(table)}


def _option(value: Any) -> Any:
    return _tuple(value) if isinstance(value, np.ndarray) else value


def _tuple(vector: npt.NDArray[Any]) -> tuple[Any, ...]:
    return tuple(vector.tolist())


@cache
def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """Return the NumPy dtype of the same name as a TFLite dtype; for 2 or 4 bits, a dtype of one byte per element."""
    if dtype in check.PACKED:
        return np.dtype(np.uint8 if dtype[0] == "u" else np.int8)
    if dtype == "bfloat16":
        import ml_dtypes  # here: few models have such tensors

        return np.dtype(str(np.dtype(ml_dtypes.bfloat16)))
    return np.dtype(dtype)
