"""Values of models that are accepted, beside the runtime of their format: the one whose rules the import follows.

The runtime stands in a process of its own, which may crash, hang or refuse: that is no finding. Each tensor that a node
makes is compared, computed of the runtime's own operands. Integers are equal, or lie in the interval of a group of
casts. Floats lie within what `qrt.models.*.compared` says of the operator, or else within `NOISE`: sums of a
few elements that cancel. `tests.models.beside` compares each operator closely, on models that are drawn to be sound.
"""

import os
import resource
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from zlib import crc32

import numpy as np

from qrt.errors import QuantError
from qrt.models.diff.compare import ModelComparison
from qrt.models.diff.drawn_inputs import KINDS, drawn, with_sizes
from qrt.models.engines.engine import Engine
from qrt.models.engines.litert import LiteRT
from qrt.models.engines.ort import OnnxRuntime
from qrt.models.importing.comparison_source import Bound, Input
from qrt.models.onnx.comparison_source import BOUNDS
from qrt.models.onnx.exporting.operation_metadata import VERSION
from qrt.models.onnx.model import ModelGraph, Operator
from qrt.models.onnx.read import read as read_onnx
from qrt.models.tflite.read import read as read_tflite
from qrt.ops.core import Array
from qrt.quantization.report.differences import Differences, TensorDifference
from qrt.runtime.compilation import compile
from qrt.runtime.functions import choose
from tests.fuzz.outcome import Finding

SECONDS = 10.0
"""How long the runtime may take to load a model, or to run it."""
MAX_BYTES = 4 << 30
"""The address space of the runtime's process."""
one_of = 1
"""The values of one of so many accepted models are compared."""
NOISE = 1 << 13
"""Units in the last place by which floats of a mutated model may lie apart: a thousandth."""
UNSETTLED = {
    "TFLite_Detection_PostProcess": "rows behind the last detection, which LiteRT leaves as they are",
    "BATCH_MATMUL": "a sum of int16 that passes 32 bits after scaling, which LiteRT wraps and qrt clamps",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "scales of gates far from those that converters write",
}
"""Operators of mutated TFLite files whose differences are not findings, and the reason."""
_FAR = 1 << 30
_LEAST_SCALE = 1e-18
ENGINES: dict[str, type[Engine]] = {"ort": OnnxRuntime, "litert": LiteRT, "litert-ref": LiteRT}
"""The runtime of each profile."""


def missing_package(profile: str) -> str:
    """A package that the runtime of a profile needs and that is not installed, or nothing."""
    return next((package for package in ENGINES[profile].packages if find_spec(package) is None), "")


@cache
def _engine(profile: str, process: int) -> Engine:
    """The runtime's process, which belongs to a process of the fuzzer: a fork must start its own."""
    return ENGINES[profile](seconds=SECONDS, max_bytes=MAX_BYTES)


def check_values(source: bytes | Path, profile: str, max_steps: int) -> str:
    """How the comparison ended, as a word for the case's label. A Finding where a value is wrong."""
    reason = _reason_against(source, profile)
    if reason:
        return f"values not compared: {reason}"
    if crc32(source if isinstance(source, bytes) else source.read_bytes()) % one_of:
        return "values not drawn to be compared"
    package = missing_package(profile)
    if package:
        return f"values not compared: {package} is not installed"
    engine = _engine(profile, os.getpid())
    limits = resource.getrlimit(resource.RLIMIT_CPU)
    resource.setrlimit(resource.RLIMIT_CPU, (resource.RLIM_INFINITY, limits[1]))  # the engine's process inherits it
    try:
        return _compare(source, profile, engine, max_steps)
    finally:
        resource.setrlimit(resource.RLIMIT_CPU, limits)


def _reason_against(source: bytes | Path, profile: str) -> str:
    """The reason why results of a model are no oracle for each other, or nothing."""
    if profile != "ort":
        scales = [
            tensor.quantization.scales for tensor in read_tflite(source).subgraphs[0].tensors if tensor.quantization
        ]
        is_far = any(((scale < _LEAST_SCALE) | (scale > 1 / _LEAST_SCALE)).any() for scale in scales)
        if is_far:
            return "scales with which floats overflow"
        biases = [t.data for g in read_tflite(source).subgraphs for t in g.tensors if t.dtype == "int32"]
        if any(bias is not None and (np.abs(bias.astype(np.int64)) > _FAR).any() for bias in biases):
            return "biases with which sums of 32 bits wrap in the runtime"
        floats = [t.data for g in read_tflite(source).subgraphs for t in g.tensors if t.dtype == "float32"]
        is_finite = all(array is None or np.isfinite(array).all() for array in floats)
        return "" if is_finite else "constants that are not finite"
    model = read_onnx(source)
    if model.metadata.get(VERSION):
        return "the rules are those of its metadata"
    arrays = [tensor.data for tensor in model.graph.constants.values() if tensor.data.dtype.kind == "f"]
    numbers = [x for op in _operators(model.graph) for x in op.attributes.values() if isinstance(x, float)]
    is_finite = all(np.isfinite(array).all() for array in (*arrays, numbers))
    return "" if is_finite else "constants or attributes that are not finite"


def _compare(source: bytes | Path, profile: str, engine: Engine, max_steps: int) -> str:
    try:
        comparison = ModelComparison(source, engine, profile, whole=_bound_of_run(source, profile))
    except QuantError as error:
        return _word_of(error, engine, profile)
    module = comparison.file.module
    program = compile(module, str(choose(module, None).attributes["sym_name"].python))
    generator = np.random.default_rng(len(source) if isinstance(source, bytes) else 0)
    try:
        for kind in KINDS:
            inputs = [_input(port, kind, generator) for port in with_sizes(comparison.file.inputs)]
            named = {port.name: array for port, array in zip(program.inputs, inputs, strict=True)}
            try:
                program.run(named, max_steps=max_steps)
            except QuantError:
                return "with other inputs refused"
            comparison.add(inputs)
    except QuantError as error:
        return _word_of(error, engine, profile)
    result = comparison.result()
    comparison.close()
    for tensor in wrong_tensors(result):
        made = tensor.operator.rpartition(" ")[0] or "an output"
        raise Finding(f"wrong value of {made}, by {profile}", f"{tensor}")
    return "compared"


def _input(port: Input, kind: str, generator: np.random.Generator) -> Array:
    """An input. Floats differ from one another, as a variance of 0 would be noise; beside the ends of 32 bits the
    runtimes' own differences overflow.
    """
    is_float = np.dtype(port.dtype).kind == "f"
    array = drawn(port, KINDS[KINDS.index(kind) % 2] if is_float else kind, generator)
    if array.dtype.kind != "i" or array.dtype.itemsize <= 2:
        return array
    array = np.clip(array, -_FAR, _FAR)
    if port.limit == 2 and array.ndim and array.size:
        array[..., 0] = (
            1  # a mask: where it excludes all keys, ONNX Runtime adds -10000 to scores, and rounding decides
        )
    return array


def _word_of(error: QuantError, engine: Engine, profile: str) -> str:
    """What an error of a comparison says: the runtime's refusal, or a result of another type, which is a Finding."""
    text = str(error)
    if text.startswith((f"{engine.name} ", "the process of ")):
        return "refused by the runtime"
    raise Finding(f"no comparison, by {profile}: {text.partition(':')[0][:60]}", text)


def wrong_tensors(differences: Differences) -> Iterator[TensorDifference]:
    """The tensors that lie further apart than they may. Of outputs, those that no node was compared for."""
    compared = {tensor.name for tensor in differences.tensors if tensor.elements}
    outputs = (tensor for tensor in differences.outputs if tensor.name not in compared)
    for tensor in (*differences.tensors, *outputs):
        if tensor.operator.partition(" ")[0] in UNSETTLED:
            continue
        is_wrong = tensor.differ > 0
        if tensor.is_float:
            is_wrong = is_wrong and tensor.largest > NOISE
        if is_wrong:
            yield tensor


def _bound_of_run(source: bytes | Path, profile: str) -> Bound:
    """How far floats may lie apart behind all nodes: the sum of what each may add."""
    if profile != "ort":
        return Bound(64, is_sum=True)
    operators = [*_operators(read_onnx(source).graph)]
    bounds = [BOUNDS.get(op.type, Bound()) for op in operators] or [Bound()]
    relative, absolute = (sum(getattr(bound, name) for bound in bounds) for name in ("relative", "absolute"))
    return Bound(sum(bound.ulp for bound in bounds), True, relative, absolute)


def _operators(graph: ModelGraph) -> Iterator[Operator]:
    for op in graph.operators:
        yield op
        for inner in op.graphs:
            yield from _operators(inner)
