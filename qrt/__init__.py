"""qrt: a numerical runtime for quantized tensors whose types are MLIR ``!quant.uniform``.

>>> import numpy as np
>>> t = parse_type("!quant.uniform<i8:f32, 0.5:3>")
>>> quantize(np.float32([0, 1, 2]), t).storage.tolist()
[3, 5, 7]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from qrt import kernels
from qrt._version import __version__
from qrt.errors import (
    FileError,
    KernelError,
    ModelError,
    ParseError,
    QuantError,
    QuantTypeError,
    UndefinedError,
    VerifyError,
)
from qrt.kernels import get_num_threads, set_num_threads
from qrt.tensor import PackedTensor, QuantTensor
from qrt.tensor.casts import bias_type, dcast, qcast, quantize, scast, values
from qrt.tensor.float_results import float_results
from qrt.tensor.functions import add, clamp, lookup, mean, mul, relu, requantize, softmax, sub
from qrt.tensor.movement import concat, pad, reshape, transpose
from qrt.tensor.products import float_matmul, matmul, pack
from qrt.tensor.windows import avg_pool2d, conv2d, depthwise_conv2d, max_pool2d
from qrt.types import AnyQuantizedType, CalibratedType, TensorType, UniformType, parse_type

if TYPE_CHECKING:
    from qrt import ir, metrics, plot
    from qrt.ir import register_pass, run_passes
    from qrt.models.onnx import backend as onnx  # noqa: F401 - a public name, though not of `import *`
    from qrt.models.onnx.export import export_onnx
    from qrt.models.programs import load
    from qrt.quantization import calibration as calibrate
    from qrt.quantization import targets
    from qrt.quantization.calibration.observe import calibrate_program
    from qrt.quantization.checking.check_quant import is_fully_quantized, is_quantized
    from qrt.quantization.explain import explain_program
    from qrt.quantization.workflow import QuantizedProgram, quantize_program
    from qrt.runtime.load import load_program
    from qrt.runtime.program import Program, compile
    from qrt.tensor.tensor_files import load_tensors, save_tensors


_LAZY = {
    "Program": "qrt.runtime",
    "compile": "qrt.runtime",
    "load": "qrt.models.programs",
    "calibrate": "qrt.quantization.calibration",
    "ir": "qrt.ir",
    "onnx": "qrt.models.onnx.backend",
    "metrics": "qrt.metrics",
    "export_onnx": "qrt.models.onnx.export",
    "load_program": "qrt.runtime.load",
    "register_pass": "qrt.ir",
    "run_passes": "qrt.ir",
    "load_tensors": "qrt.tensor.tensor_files",
    "save_tensors": "qrt.tensor.tensor_files",
    "plot": "qrt.plot",
    "targets": "qrt.quantization.targets",
    "is_fully_quantized": "qrt.quantization.checking.check_quant",
    "is_quantized": "qrt.quantization.checking.check_quant",
    "calibrate_program": "qrt.quantization.calibration.observe",
    "QuantizedProgram": "qrt.quantization.workflow",
    "explain_program": "qrt.quantization.workflow",
    "quantize_program": "qrt.quantization.workflow",
}
_MODULES = {"onnx"}
"""Public names of modules that stand elsewhere."""

# Without `onnx`, which needs that package, and would hide it from who writes `from qrt import *`.
__all__ = [
    "AnyQuantizedType",
    "CalibratedType",
    "FileError",
    "KernelError",
    "ModelError",
    "PackedTensor",
    "ParseError",
    "Program",
    "QuantError",
    "QuantTensor",
    "QuantTypeError",
    "QuantizedProgram",
    "TensorType",
    "UndefinedError",
    "UniformType",
    "VerifyError",
    "__version__",
    "add",
    "avg_pool2d",
    "bias_type",
    "calibrate",
    "calibrate_program",
    "clamp",
    "compile",
    "concat",
    "conv2d",
    "dcast",
    "depthwise_conv2d",
    "explain_program",
    "export_onnx",
    "float_matmul",
    "float_results",
    "get_num_threads",
    "ir",
    "is_fully_quantized",
    "is_quantized",
    "kernels",
    "load",
    "load_program",
    "load_tensors",
    "lookup",
    "matmul",
    "max_pool2d",
    "mean",
    "metrics",
    "mul",
    "pack",
    "pad",
    "parse_type",
    "plot",
    "qcast",
    "quantize",
    "quantize_program",
    "register_pass",
    "relu",
    "requantize",
    "reshape",
    "run_passes",
    "save_tensors",
    "scast",
    "set_num_threads",
    "softmax",
    "sub",
    "targets",
    "transpose",
    "values",
]


def __getattr__(name: str) -> Any:
    module = _LAZY.get(name)
    if module is None:
        raise AttributeError(f"module 'qrt' has no attribute {name!r}")
    loaded = import_module(module)
    value = loaded if module == f"qrt.{name}" or name in _MODULES else getattr(loaded, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_LAZY])
