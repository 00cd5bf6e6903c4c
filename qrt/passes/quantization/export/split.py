"""Regions of several ops of `qrt`: exact types between them where they exist, else those that the body says."""

from qrt.calibrate.targets.registry import find
from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of
from qrt.ir.core.rewrite import Builder
from qrt.ops import FAMILIES
from qrt.passes.quantization.export.casts import Casts
from qrt.passes.quantization.export.ports import REGION, inputs, outputs
from qrt.passes.quantization.forms import Form, form_of
from qrt.passes.quantization.fuse_kernels import fuse_block
from qrt.passes.remarks import remarks_to
from qrt.types import TensorType, UniformType

_EXACT = frozenset("matmul conv2d depthwise_conv2d add sub mul concat".split())
"""Families that have a type which holds every result exactly; others keep their operand's, or round."""
_KEPT = frozenset("clamp max_pool2d reshape transpose pad".split())
