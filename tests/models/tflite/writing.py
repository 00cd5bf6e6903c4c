"""Writes .tflite files from data: tensors, operators, subgraphs and signatures, by the schema's builder functions.

    x = Tensor((1, 4), "int8", scales=0.5, zero_points=3)
    w = Tensor((1, 4), "int8", scales=0.25, data=[[1, 2, 3, 4]])
    y = Tensor((1, 4), "int8", scales=0.75)
    content = one_op("ADD", [x, w], [y], {"fused_activation_function": "RELU"})

An operator holds its tensors themselves, None for an absent one. A file has each tensor once, in the order in which
its operators meet it. Nothing is checked: wrong files can be written too, and a number may stand in a tensor's place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import flatbuffers
import numpy as np
import tflite

_OPTIONS = {
    "AVERAGE_POOL_2D": "Pool2DOptions",
    "CONV_3D": "Conv3DOptions",
    "CONV_3D_TRANSPOSE": "Conv3DOptions",
    "CUSTOM": None,
    "GATHER_ND": "GatherNdOptions",
    "L2_NORMALIZATION": "L2NormOptions",
    "L2_POOL_2D": "Pool2DOptions",
    "LOCAL_RESPONSE_NORMALIZATION": "LocalResponseNormalizationOptions",
    "MAXIMUM": "MaximumMinimumOptions",
    "MAX_POOL_2D": "Pool2DOptions",
    "MEAN": "ReducerOptions",
    "MINIMUM": "MaximumMinimumOptions",
    "REDUCE_ALL": "ReducerOptions",
    "REDUCE_ANY": "ReducerOptions",
    "REDUCE_MAX": "ReducerOptions",
    "REDUCE_MIN": "ReducerOptions",
    "REDUCE_PROD": "ReducerOptions",
    "SUM": "ReducerOptions",
    "RNN": "RNNOptions",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNNOptions",
}
"""The tables of options whose name does not follow from the operator's."""

_LATER = {"int2": 19, "uint4": 20, "float8_e4m3fn": 21, "float8_e5m2": 22}
"""The codes of types that the package tflite does not have."""
_BITS = {"int2": 2, "int4": 4, "uint4": 4}

_TABLES = {
    name.lower(): name
    for union in (tflite.BuiltinOptions, tflite.BuiltinOptions2)
    for name in vars(union)
    if name.endswith("Options")
}

_ENUMERATIONS = {
    "fused_activation_function": tflite.ActivationFunctionType,
    "idx_out_type": tflite.TensorType,
    "in_data_type": tflite.TensorType,
    "index_out_type": tflite.TensorType,
    "kernel_type": tflite.LSTMKernelType,
    "mode": tflite.MirrorPadMode,
    "out_data_type": tflite.TensorType,
    "out_type": tflite.TensorType,
    "reduce_function": tflite.ReduceWindowFunction,
    "output_type": tflite.TensorType,
    "padding": tflite.Padding,
    "quantized_bias_type": tflite.TensorType,
    "type": tflite.TensorType,
    "weights_format": tflite.FullyConnectedOptionsWeightsFormat,
}
"""The enumerations of fields of options, whose values are given by name."""


@dataclass(frozen=True)
class Dimension:
    """A level of a sparse tensor: dense with ``size`` positions, or sparse with ``segments`` and ``indices``."""

    size: int = 0
    segments: Sequence[int] | None = None
    indices: Sequence[int] | None = None
    dtype: str = "Int32"


@dataclass(frozen=True)
class Sparsity:
    """The levels of a sparse tensor in the ``order`` of its axes, then of its blocks, which ``blocks`` maps to axes."""

    order: Sequence[int] = ()
    blocks: Sequence[int] = ()
    dimensions: Sequence[Dimension] = ()


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor of a file. Scales and zero points are numbers or sequences; data are bytes or what NumPy takes."""

    shape: Sequence[int] | None
    dtype: str = "int8"
    scales: Any = None
    zero_points: Any = 0
    axis: int = 0
    data: Any = None
    name: str | None = None
    signature: Sequence[int] | None = None
    is_variable: bool = False
    sparsity: Sparsity | None = None
    block_scales: "Tensor | None" = None
    """The tensor of the scales of blocks of ``block_size`` elements."""
    block_size: int = 0
    block_zero_points: int = -1
    has_custom_quantization: bool = False


@dataclass(frozen=True, eq=False)
class Operator:
    """An operator by its name in the schema, or a custom one by its code, with ``custom_options``.

    Enumerations among the options are given by name, vectors of int32 as sequences, others as arrays. ``table`` names a
    table of options that is not the operator's.
    """

    name: str
    inputs: Sequence[Tensor | int | None]
    outputs: Sequence[Tensor | int]
    options: Mapping[str, Any] = field(default_factory=dict)
    version: int = 1
    intermediates: Sequence[Tensor | int] = ()
    custom_options: bytes = b""
    table: str | None = None


@dataclass(frozen=True, eq=False)
class Subgraph:
    """A subgraph. ``tensors`` come first in the file, before those that inputs, operators and outputs meet."""

    inputs: Sequence[Tensor | int]
    outputs: Sequence[Tensor | int]
    operators: Sequence[Operator]
    name: str = "main"
    tensors: Sequence[Tensor] = ()

    def numbered(self) -> dict[Tensor, int]:
        """The tensors of the subgraph with their index."""
        groups = [self.tensors, self.inputs]
        for operator in self.operators:
            groups += [operator.inputs, operator.intermediates, operator.outputs]
        tensors = [tensor for group in [*groups, self.outputs] for tensor in group if isinstance(tensor, Tensor)]
        tensors += [tensor.block_scales for tensor in tensors if tensor.block_scales is not None]
        return {tensor: index for index, tensor in enumerate(dict.fromkeys(tensors))}


@dataclass(frozen=True, eq=False)
class Signature:
    """Names of the inputs and outputs of a subgraph."""

    inputs: Mapping[str, Tensor | int]
    outputs: Mapping[str, Tensor | int]
    key: str = "serving_default"
    subgraph: int = 0


def one_op(
    name: str,
    inputs: Sequence[Tensor | None],
    outputs: Sequence[Tensor],
    options: Mapping[str, Any] | None = None,
    **others: Any,
) -> bytes:
    """A file with one operator. Its inputs that have no data and are no variables are those of the graph."""
    given = [tensor for tensor in inputs if tensor is not None and tensor.data is None and not tensor.is_variable]
    operator = Operator(name, inputs, outputs, options or {}, **others)
    return write([Subgraph(list(dict.fromkeys(given)), outputs, [operator])])


def write(
    subgraphs: Sequence[Subgraph], signatures: Sequence[Signature] = (), *, description: str = "", version: int = 3
) -> bytes:
    """The bytes of a file."""
    return _Writer(subgraphs, signatures).file(description, version)


class _Writer:
    def __init__(self, subgraphs: Sequence[Subgraph], signatures: Sequence[Signature]):
        self.builder = flatbuffers.Builder(1024)
        self.subgraphs, self.signatures = subgraphs, signatures
        self.buffers = [b""]  # the first is empty: that of tensors without data
        self.codes: dict[tuple[str, int], int] = {}

    def file(self, description: str, version: int) -> bytes:
        b = self.builder
        subgraphs = self.offsets([self.subgraph(subgraph) for subgraph in self.subgraphs])
        codes = self.offsets([self.code(*code) for code in self.codes])
        buffers = self.offsets([self.buffer(content) for content in self.buffers])
        signatures = self.offsets([self.signature(signature) for signature in self.signatures])
        said = b.CreateString(description)
        tflite.ModelStart(b)
        tflite.ModelAddVersion(b, version)
        tflite.ModelAddOperatorCodes(b, codes)
        tflite.ModelAddSubgraphs(b, subgraphs)
        tflite.ModelAddDescription(b, said)
        tflite.ModelAddBuffers(b, buffers)
        if self.signatures:
            tflite.ModelAddSignatureDefs(b, signatures)
        b.Finish(tflite.ModelEnd(b), b"TFL3")
        return bytes(b.Output())

    def offsets(self, offsets: Sequence[int]) -> int:
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return self.builder.EndVector()

    def numbers(self, values: Any, dtype: str) -> int:
        return self.raw(np.asarray(values, dtype).reshape(-1).tobytes(), np.dtype(dtype).itemsize)

    def raw(self, content: bytes, itemsize: int = 1, alignment: int = 4) -> int:
        self.builder.StartVector(itemsize, len(content) // itemsize, max(itemsize, alignment))
        self.builder.head = self.builder.Head() - len(content)
        self.builder.Bytes[self.builder.Head() : self.builder.Head() + len(content)] = content
        return self.builder.EndVector()

    def buffer(self, content: bytes) -> int:
        data = self.raw(content, alignment=16) if content else None
        tflite.BufferStart(self.builder)
        if data is not None:
            tflite.BufferAddData(self.builder, data)
        return tflite.BufferEnd(self.builder)

    def code(self, name: str, version: int) -> int:
        b = self.builder
        known = getattr(tflite.BuiltinOperator, name, None)
        custom = b.CreateString(name) if known is None else None
        number = tflite.BuiltinOperator.CUSTOM if known is None else known
        tflite.OperatorCodeStart(b)
        tflite.OperatorCodeAddDeprecatedBuiltinCode(b, min(number, 127))
        if custom is not None:
            tflite.OperatorCodeAddCustomCode(b, custom)
        tflite.OperatorCodeAddVersion(b, version)
        tflite.OperatorCodeAddBuiltinCode(b, number)
        return tflite.OperatorCodeEnd(b)

    def signature(self, signature: Signature) -> int:
        b, numbered = self.builder, self.subgraphs[signature.subgraph].numbered()

        def named(tensors: Mapping[str, Tensor | int]) -> int:
            maps = []
            for name, tensor in tensors.items():
                said = b.CreateString(name)
                tflite.TensorMapStart(b)
                tflite.TensorMapAddName(b, said)
                tflite.TensorMapAddTensorIndex(b, numbered[tensor] if isinstance(tensor, Tensor) else tensor)
                maps.append(tflite.TensorMapEnd(b))
            return self.offsets(maps)

        inputs, outputs, key = named(signature.inputs), named(signature.outputs), b.CreateString(signature.key)
        tflite.SignatureDefStart(b)
        tflite.SignatureDefAddInputs(b, inputs)
        tflite.SignatureDefAddOutputs(b, outputs)
        tflite.SignatureDefAddSignatureKey(b, key)
        tflite.SignatureDefAddSubgraphIndex(b, signature.subgraph)
        return tflite.SignatureDefEnd(b)

    def subgraph(self, subgraph: Subgraph) -> int:
        b, numbered = self.builder, subgraph.numbered()

        def indices(tensors: Sequence[Tensor | int | None]) -> int:
            found = [numbered[t] if isinstance(t, Tensor) else -1 if t is None else t for t in tensors]
            return self.numbers(found, "<i4")

        operators = self.offsets([self.operator(operator, indices) for operator in subgraph.operators])
        tensors = self.offsets([self.tensor(tensor, index, numbered) for tensor, index in numbered.items()])
        inputs, outputs, name = indices(subgraph.inputs), indices(subgraph.outputs), b.CreateString(subgraph.name)
        tflite.SubGraphStart(b)
        tflite.SubGraphAddTensors(b, tensors)
        tflite.SubGraphAddInputs(b, inputs)
        tflite.SubGraphAddOutputs(b, outputs)
        tflite.SubGraphAddOperators(b, operators)
        tflite.SubGraphAddName(b, name)
        return tflite.SubGraphEnd(b)

    def tensor(self, tensor: Tensor, index: int, numbered: Mapping[Tensor, int]) -> int:
        b = self.builder
        number = 0
        if tensor.data is not None:
            number = len(self.buffers)
            self.buffers.append(_bytes(tensor))
        name = b.CreateString(f"t{index}" if tensor.name is None else tensor.name)
        shape = None if tensor.shape is None else self.numbers(tensor.shape, "<i4")
        signature = None if tensor.signature is None else self.numbers(tensor.signature, "<i4")
        quantization = None if tensor.scales is None else self.quantization(tensor)
        if tensor.block_scales is not None:
            quantization = self.blockwise(tensor, numbered[tensor.block_scales])
        sparsity = None if tensor.sparsity is None else self.sparsity(tensor.sparsity)
        tflite.TensorStart(b)
        if shape is not None:
            tflite.TensorAddShape(b, shape)
        tflite.TensorAddType(b, _LATER.get(tensor.dtype) or getattr(tflite.TensorType, tensor.dtype.upper()))
        tflite.TensorAddBuffer(b, number)
        tflite.TensorAddName(b, name)
        if quantization is not None:
            tflite.TensorAddQuantization(b, quantization)
        if sparsity is not None:
            tflite.TensorAddSparsity(b, sparsity)
        tflite.TensorAddIsVariable(b, tensor.is_variable)
        if signature is not None:
            tflite.TensorAddShapeSignature(b, signature)
        tflite.TensorAddHasRank(b, tensor.shape is not None)
        return tflite.TensorEnd(b)

    def sparsity(self, sparsity: Sparsity) -> int:
        b = self.builder
        order, blocks = self.numbers(sparsity.order, "<i4"), self.numbers(sparsity.blocks, "<i4")
        dimensions = self.offsets([self.dimension(dimension) for dimension in sparsity.dimensions])
        tflite.SparsityParametersStart(b)
        tflite.SparsityParametersAddTraversalOrder(b, order)
        tflite.SparsityParametersAddBlockMap(b, blocks)
        tflite.SparsityParametersAddDimMetadata(b, dimensions)
        return tflite.SparsityParametersEnd(b)

    def dimension(self, dimension: Dimension) -> int:
        b, table = self.builder, f"{dimension.dtype}Vector"
        integers = {"Int32": "<i4", "Uint16": "<u2", "Uint8": "u1"}[dimension.dtype]
        vectors = []
        for values in (dimension.segments, dimension.indices):
            if values is None:
                continue
            numbers = self.numbers(values, integers)
            getattr(tflite, f"{table}Start")(b)
            getattr(tflite, f"{table}AddValues")(b, numbers)
            vectors.append(getattr(tflite, f"{table}End")(b))
        tflite.DimensionMetadataStart(b)
        tflite.DimensionMetadataAddFormat(b, int(bool(vectors)))
        tflite.DimensionMetadataAddDenseSize(b, dimension.size)
        for name, vector in zip(("ArraySegments", "ArrayIndices"), vectors, strict=False):
            getattr(tflite, f"DimensionMetadataAdd{name}Type")(b, getattr(tflite.SparseIndexVector, table))
            getattr(tflite, f"DimensionMetadataAdd{name}")(b, vector)
        return tflite.DimensionMetadataEnd(b)

    def empty(self, table: str) -> int:
        getattr(tflite, f"{table}Start")(self.builder)
        return int(getattr(tflite, f"{table}End")(self.builder))

    def quantization(self, tensor: Tensor) -> int:
        b = self.builder
        details = self.empty("CustomQuantization") if tensor.has_custom_quantization else None
        scales = self.numbers(tensor.scales, "<f4")
        count = np.size(tensor.zero_points) if np.ndim(tensor.zero_points) else np.size(tensor.scales)
        zero_points = self.numbers(np.broadcast_to(tensor.zero_points, count), "<i8")
        tflite.QuantizationParametersStart(b)
        if details is not None:
            tflite.QuantizationParametersAddDetailsType(b, tflite.QuantizationDetails.CustomQuantization)
            tflite.QuantizationParametersAddDetails(b, details)
        tflite.QuantizationParametersAddScale(b, scales)
        tflite.QuantizationParametersAddZeroPoint(b, zero_points)
        tflite.QuantizationParametersAddQuantizedDimension(b, tensor.axis)
        return tflite.QuantizationParametersEnd(b)

    def blockwise(self, tensor: Tensor, scales: int) -> int:
        b = self.builder
        b.StartObject(4)  # BlockwiseQuantization, which the package tflite does not have
        b.PrependInt32Slot(0, scales, 0)
        b.PrependInt32Slot(1, tensor.block_zero_points, 0)
        b.PrependInt32Slot(2, tensor.block_size, 0)
        details = b.EndObject()
        tflite.QuantizationParametersStart(b)
        tflite.QuantizationParametersAddDetailsType(b, 2)
        tflite.QuantizationParametersAddDetails(b, details)
        return tflite.QuantizationParametersEnd(b)

    def operator(self, operator: Operator, indices: Any) -> int:
        b = self.builder
        code = self.codes.setdefault((operator.name, operator.version), len(self.codes))
        inputs, outputs = indices(operator.inputs), indices(operator.outputs)
        intermediates = indices(operator.intermediates) if operator.intermediates else None
        custom = self.raw(operator.custom_options) if operator.custom_options else None
        table = operator.table or options_table(operator.name)
        options = None if table is None else self.options(table, operator.options)
        tflite.OperatorStart(b)
        tflite.OperatorAddOpcodeIndex(b, code)
        tflite.OperatorAddInputs(b, inputs)
        tflite.OperatorAddOutputs(b, outputs)
        if options is not None and hasattr(tflite.BuiltinOptions2, table):
            tflite.OperatorAddBuiltinOptions2Type(b, getattr(tflite.BuiltinOptions2, table))
            tflite.OperatorAddBuiltinOptions2(b, options)
        elif options is not None:
            tflite.OperatorAddBuiltinOptionsType(b, getattr(tflite.BuiltinOptions, table))
            tflite.OperatorAddBuiltinOptions(b, options)
        if custom is not None:
            tflite.OperatorAddCustomOptions(b, custom)
        if intermediates is not None:
            tflite.OperatorAddIntermediates(b, intermediates)
        return tflite.OperatorEnd(b)

    def options(self, table: str, options: Mapping[str, Any]) -> int:
        values = {}
        for name, value in options.items():
            if isinstance(value, str) and name in _ENUMERATIONS:
                values[name] = getattr(_ENUMERATIONS[name], value)
            elif isinstance(value, str):
                values[name] = self.builder.CreateString(value)
            elif isinstance(value, bytes):
                values[name] = self.raw(value)
            else:
                dtype = value.dtype.newbyteorder("<").str if isinstance(value, np.ndarray) else "<i4"
                is_vector = isinstance(value, (Sequence, np.ndarray))
                values[name] = self.numbers(value, dtype) if is_vector else value
        getattr(tflite, f"{table}Start")(self.builder)
        for name, value in values.items():
            camel = "".join(word[:1].upper() + word[1:] for word in name.split("_"))
            getattr(tflite, f"{table}Add{camel}")(self.builder, value)
        return getattr(tflite, f"{table}End")(self.builder)


def options_table(name: str) -> str | None:
    """The name of the table of options of an operator, None for one that has none."""
    return _OPTIONS[name] if name in _OPTIONS else _TABLES.get(f"{name.replace('_', '').lower()}options")


def _bytes(tensor: Tensor) -> bytes:
    """The data of a tensor as they stand in the file: of integers of 2 or 4 bits the first one low."""
    if isinstance(tensor.data, bytes):
        return tensor.data
    if tensor.dtype in _BITS:
        bits = _BITS[tensor.dtype]
        values = np.asarray(tensor.data).astype(np.int8).reshape(-1).view(np.uint8) & (1 << bits) - 1
        parts = np.append(values, np.zeros(-values.size % (8 // bits), np.uint8)).reshape(-1, 8 // bits)
        return np.bitwise_or.reduce(parts << np.arange(0, 8, bits, np.uint8), axis=1).tobytes()
    data = np.asarray(tensor.data, tensor.dtype)
    return (data if tensor.sparsity else np.broadcast_to(data, tensor.shape)).tobytes()
