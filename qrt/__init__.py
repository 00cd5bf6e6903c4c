"""qrt: a numerical runtime for quantized tensors whose types are MLIR ``!quant.uniform``.

>>> import numpy as np
>>> t = parse_type("!quant.uniform<i8:f32, 0.5:3>")
>>> quantize(np.float32([0, 1, 2]), t).storage.tolist()
[3, 5, 7]

This package has the types, the tensors and their functions, and `load`, `compile`, `load_program` and
`quantize_program`. Everything else is in the modules `qrt.errors`, `qrt.kernels` (instruction sets and threads),
`qrt.ir`, `qrt.quantization`, `qrt.models`, `qrt.metrics` and `qrt.plot`. A package imports only packages to its right:

    cli -> models -> quantization -> runtime -> ir, tensor -> ops -> types, kernels -> _ext -> numerics -> files, errors

To read the code, start with docs/internals/architecture.md, which has a picture of the packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from qrt import errors, kernels
from qrt._version import __version__
from qrt.errors import QuantError
from qrt.tensor import PackedTensor, QuantTensor
from qrt.tensor.casts import bias_type, dcast, qcast, quantize, scast, values
from qrt.tensor.float_results import float_results
from qrt.tensor.functions import (
    add,
    clamp,
    concat,
    lookup,
    mean,
    mul,
    pad,
    relu,
    requantize,
    reshape,
    softmax,
    sub,
    transpose,
)
from qrt.tensor.products import avg_pool2d, conv2d, depthwise_conv2d, float_matmul, matmul, max_pool2d, pack
from qrt.types import AnyQuantizedType, CalibratedType, TensorType, UniformType, parse_type

if TYPE_CHECKING:
    from qrt import ir, metrics, models, plot, quantization
    from qrt.models.programs import load
    from qrt.quantization.workflow import quantize_program
    from qrt.runtime.compilation import compile
    from qrt.runtime.load import load_program
    from qrt.runtime.program import Program
    from qrt.tensor.tensor_files import load_tensors, save_tensors

_LAZY = {
    "Program": "qrt.runtime.program",
    "compile": "qrt.runtime.compilation",
    "load": "qrt.models.programs",
    "load_program": "qrt.runtime.load",
    "load_tensors": "qrt.tensor.tensor_files",
    "quantize_program": "qrt.quantization.workflow",
    "save_tensors": "qrt.tensor.tensor_files",
}
"""Public names whose modules are imported when they are first used."""

_MODULES = ("ir", "metrics", "models", "plot", "quantization")

__all__ = [
    "AnyQuantizedType",
    "CalibratedType",
    "PackedTensor",
    "Program",
    "QuantError",
    "QuantTensor",
    "TensorType",
    "UniformType",
    "__version__",
    "add",
    "avg_pool2d",
    "bias_type",
    "clamp",
    "compile",
    "concat",
    "conv2d",
    "dcast",
    "depthwise_conv2d",
    "errors",
    "float_matmul",
    "float_results",
    "ir",
    "kernels",
    "load",
    "load_program",
    "load_tensors",
    "lookup",
    "matmul",
    "max_pool2d",
    "mean",
    "metrics",
    "models",
    "mul",
    "pack",
    "pad",
    "parse_type",
    "plot",
    "qcast",
    "quantization",
    "quantize",
    "quantize_program",
    "relu",
    "requantize",
    "reshape",
    "save_tensors",
    "scast",
    "softmax",
    "sub",
    "transpose",
    "values",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f"qrt.{name}")
    if name not in _LAZY:
        raise AttributeError(f"module 'qrt' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
