"""A TFLite file, mapped and checked: the bytes of constants stay in the file's memory."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import ModelError, shown
from qrt.models.importing.source import Source, mapped
from qrt.models.tflite import check, schema
from qrt.models.tflite.flatbuffer import Reader
from qrt.models.tflite.model import Model, Operator, Quantization, Signature, Subgraph, Tensor

_IDENTIFIER = b"TFL3"
_VERSION = 3
_CUSTOM = "CUSTOM"
_BYTES = np.dtype(np.uint8)


def read(source: Source, *, max_bytes: int = 2 << 30) -> Model:
    """A model as its file describes it.

    Parameters
    ----------
    source : str, PathLike or bytes
        A path, whose file is mapped and must not change while the model is used; or the bytes of a file.
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
        subgraph, the operator and the tensor.
    FileError
        If the file cannot be read. It is an OSError too.

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
    """The dataclasses of a file, made from its tables."""

    def __init__(self, reader: Reader, root: Mapping[str, Any]) -> None:
        self.reader, self.root, self.name = reader, root, reader.name
        self.buffers = [
            self._buffer(f"buffer {index}", said["offset"], said["size"], said["data"])
            for index, said in enumerate(root["buffers"])
        ]

    def model(self) -> Model:
        """The whole file."""
        if self.root["version"] != _VERSION:
            raise ModelError(f"{self.name}: the version of its schema is {self.root['version']}, expected {_VERSION}")
        self.codes = [self._code(index, said) for index, said in enumerate(self.root["operator_codes"])]
        subgraphs = tuple(self._subgraph(index, said) for index, said in enumerate(self.root["subgraphs"]))
        signatures = tuple(map(self._signature, self.root["signature_defs"]))
        return Model(self.name, self.root["version"], self.root["description"], subgraphs, signatures)

    def _buffer(self, place: str, offset: int, size: int, data: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
        """Bytes in a vector, or behind the tables, where a file is larger than a vector may be."""
        if offset <= 1:  # 1 is written before the place is known
            return data
        if offset + size > self.reader.data.size:
            raise ModelError(f"{self.name}: {place}: {size} bytes at {offset} exceed the file")
        return self.reader.data[offset : offset + size]

    def _code(self, index: int, said: Mapping[str, Any]) -> tuple[str, int, bool]:
        """The name of an operator, its version, and whether it is a custom one."""
        number = max(said["deprecated_builtin_code"], said["builtin_code"])  # the first one has 8 bits
        known = schema.operators()
        if number < 0:
            raise ModelError(f"{self.name}: operator code {index} is {number}")
        if number >= len(known):
            return f"BUILTIN_{number}", said["version"], False
        if known[number] != _CUSTOM:
            return known[number], said["version"], False
        if not said["custom_code"] or said["custom_code"] in known:
            raise ModelError(
                f"{self.name}: operator code {index}: a custom operator has the invalid name "
                f"{shown(said['custom_code'])}"
            )
        return said["custom_code"], said["version"], True

    def _subgraph(self, index: int, said: Mapping[str, Any]) -> Subgraph:
        place = f"{self.name}: subgraph {index}"
        tensors = tuple(self._tensor(place, number, tensor) for number, tensor in enumerate(said["tensors"]))
        operators = tuple(self._operator(place, number, operator) for number, operator in enumerate(said["operators"]))
        inputs, outputs = _tuple(said["inputs"]), _tuple(said["outputs"])
        computed = {*inputs}.union(*(operator.outputs for operator in operators))
        tensors = tuple(_without_elements(tensor) if _is_empty(tensor, computed) else tensor for tensor in tensors)
        return Subgraph(index, said["name"], tensors, operators, inputs, outputs)

    # -- tensors -----------------------------------------------------------------------------------------------------

    def _tensor(self, place: str, index: int, said: Mapping[str, Any]) -> Tensor:
        place = f"{place}, tensor {index} {shown(said['name'])}"
        if said["sparsity"] is not None:
            raise ModelError(f"{place}: sparse tensors are not supported")
        shape, signature = _tuple(said["shape"]), _tuple(said["shape_signature"])
        elements = check.element_count(place, shape)
        if signature and len(signature) != len(shape):
            raise ModelError(
                f"{place}: its shape_signature has {len(signature)} dimensions, but its shape {len(shape)}"
            )
        opened = tuple(-1 if open == -1 else size for open, size in zip(signature or shape, shape, strict=True))
        dtype = said["type"].lower()
        quantization = self._quantization(place, said["quantization"], shape, dtype)
        data = self._elements(place, said["buffer"], dtype, shape, elements)
        return Tensor(index, said["name"], shape, opened, dtype, quantization, data, said["is_variable"])

    def _elements(
        self, place: str, index: int, dtype: str, shape: tuple[int, ...], elements: int
    ) -> npt.NDArray[Any] | None:
        if index >= max(len(self.buffers), 1):
            raise ModelError(f"{place}: buffer {index} does not exist, the file has {len(self.buffers)}")
        data = self.buffers[index] if index else None  # buffer 0 means none
        if data is None or not data.size:
            return None
        if dtype in check.UNSIZED:
            return data
        expected = check.byte_count(dtype, elements)
        if data.size != expected:
            shaped = "x".join(map(str, shape)) or "scalar"
            raise ModelError(f"{place}: buffer {index} has {data.size} bytes, but a {shaped} of {dtype} has {expected}")
        return data if dtype in check.PACKED else _viewed(data, numpy_dtype(dtype)).reshape(shape)

    def _quantization(
        self, place: str, said: Mapping[str, Any] | None, shape: tuple[int, ...], dtype: str
    ) -> Quantization | None:
        """What a tensor of another type than an integer has there says nothing: the runtime does not use it."""
        if said is None or dtype not in check.ZERO_POINTS:
            return None
        if said["details_type"]:
            raise ModelError(f"{place}: its quantization is of kind {said['details_type']}, which is not supported")
        scales, zero_points = said["scale"], said["zero_point"]
        if not scales.size:
            return None
        if not zero_points.size:
            zero_points = np.zeros(scales.size, np.int64)
        found = Quantization(scales, zero_points, said["quantized_dimension"])
        check.check_quantization(place, found, shape, dtype)
        return found

    # -- operators ---------------------------------------------------------------------------------------------------

    def _operator(self, place: str, index: int, said: Mapping[str, Any]) -> Operator:
        code = said["opcode_index"]
        if code >= len(self.codes):
            raise ModelError(f"{place}, operator {index}: operator code {code} does not exist")
        name, version, is_custom = self.codes[code]
        place = f"{place}, operator {index} {name}"
        options = {} if is_custom else self._options(place, name, said)
        start, size = said["large_custom_options_offset"], said["large_custom_options_size"]
        custom = self._buffer(place, start, size, said["custom_options"]).tobytes()
        inputs, outputs, intermediates = map(_tuple, (said["inputs"], said["outputs"], said["intermediates"]))
        return Operator(index, name, version, inputs, outputs, intermediates, options, custom, is_custom)

    def _options(self, place: str, name: str, said: Mapping[str, Any]) -> Mapping[str, Any]:
        """The fields of the operator's own table; the defaults where it has none."""
        if name not in schema.operators():  # of a later schema
            return {}
        own = schema.options_table(name)
        for union in ("builtin_options", "builtin_options2"):
            kind = said[f"{union}_type"]
            table = schema.union_table(f"{union.title().replace('_', '')}?", kind)
            if kind and table != own:
                raise ModelError(f"{place}: its options are {table or f'of kind {kind}'}, expected {own or 'none'}")
            if said[union] is not None:
                return {field: _option(value) for field, value in said[union].items()}
        return _defaults(own) if own else {}

    def _signature(self, said: Mapping[str, Any]) -> Signature:
        key = said["signature_key"]
        inputs, outputs = (self._named(key, said[field]) for field in ("inputs", "outputs"))
        return Signature(key, said["subgraph_index"], inputs, outputs)

    def _named(self, key: str, entries: Iterable[Mapping[str, Any]]) -> Mapping[str, int]:
        found: dict[str, int] = {}
        for entry in entries:
            if entry["name"] in found:
                raise ModelError(f"{self.name}: signature {shown(key)}: it has {shown(entry['name'])} twice")
            found[entry["name"]] = entry["tensor_index"]
        return found


def _is_empty(tensor: Tensor, computed: Collection[int]) -> bool:
    """Whether it is a constant without elements, which needs no bytes: the shape of a scalar, for example."""
    return 0 in tensor.shape and tensor.data is None and not tensor.is_variable and tensor.index not in computed


def _without_elements(tensor: Tensor) -> Tensor:
    data = np.empty(tensor.shape, _BYTES if tensor.dtype in check.PACKED | check.UNSIZED else numpy_dtype(tensor.dtype))
    data.flags.writeable = False
    return replace(tensor, data=data)


def _viewed(data: npt.NDArray[np.uint8], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Bytes as elements; a copy where they lie at an address that is no multiple of an element's size."""
    if dtype.itemsize > 1 and data.ctypes.data % dtype.itemsize:
        return np.frombuffer(data.tobytes(), dtype)
    return data.view(dtype)


@cache
def _defaults(table: str) -> Mapping[str, Any]:
    return {field.name: _option(field.default) for field in schema.fields(table)}


def _option(value: Any) -> Any:
    return _tuple(value) if isinstance(value, np.ndarray) else value


def _tuple(vector: npt.NDArray[Any]) -> tuple[Any, ...]:
    return tuple(vector.tolist())


@cache
def numpy_dtype(dtype: str) -> np.dtype[Any]:
    """NumPy's type of elements that are not packed."""
    if dtype == "bfloat16":
        import ml_dtypes  # here: few models have such tensors

        return np.dtype(str(np.dtype(ml_dtypes.bfloat16)))
    return np.dtype(dtype)
