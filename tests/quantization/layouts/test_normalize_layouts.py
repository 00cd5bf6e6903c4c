"""normalize-layouts. Hazards: a layout whose axes are taken in another order; groups or places along the depth that are
exchanged; a transpose that moves behind an operation that is no function of single elements; a layout that stays."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrt import ir
from qrt.ir.dialects.linalg.named import TABLE
from qrt.ir.remarks import remarks_to
from qrt.quantization.forms import matches_of
from qrt.quantization.fusion.fuse_kernels import FuseKernels
from qrt.runtime.interpreter import Interpreter
from tests.quantization.checks import kernel_of, regions
from tests.quantization.forms.test_drawn_forms import tensor
from tests.quantization.forms.test_forms_on_targets import check_export, stats

SIZES = {"n": 2, "c": 3, "g": 2, "f": 4, "m": 2}
CONVOLUTIONS = [
    name.removeprefix("linalg.")
    for name in TABLE
    if re.match(r"linalg\.(depthwise_)?conv_\d", name)
    and not name.endswith("_q")
    and name not in ("linalg.conv_1d", "linalg.conv_2d", "linalg.conv_3d")
]
POOLS = [
    "pooling_nchw_max",
    "pooling_nchw_sum",
    "pooling_ncw_max",
    "pooling_ncw_sum",
    "pooling_nwc_max",
    "pooling_nwc_sum",
    "pooling_ndhwc_max",
]


def shapes(name, taps, strides, dilations):
    """The shapes of the images, the filters and the result of a named op."""
    _, _, rest = TABLE[f"linalg.{name}"].loops.partition(": ")
    inputs, _, out = rest.partition("->")
    images, filters = inputs.split()
    windows = dict(zip(re.findall(r"\((\w)\w\)", images), range(3), strict=False))
    inner = dict(zip(re.findall(r"\(\w(\w)\)", images), range(3), strict=False))
    spans = [2 + number for number in range(len(windows))]
    size = {**SIZES, **{loop: spans[place] for loop, place in windows.items()}}
    size |= {loop: taps[place] for loop, place in inner.items()}
    by_axis = re.findall(r"\((\w)\w\)|(\w)", images)
    reach = [
        (span - 1) * stride + (tap - 1) * dilation + 1
        for span, stride, tap, dilation in zip(spans, strides, taps, dilations, strict=False)
    ]
    shape = [reach[windows[window]] if window else size[plain] for window, plain in by_axis]
    return shape, [size[loop] for loop in filters], [size[loop] for loop in out.strip()]


def program(name, taps, strides, dilations, after=""):
    image, filters, out = (tensor(shape) for shape in shapes(name, taps, strides, dilations))
    count = len(re.findall(r"\(", TABLE[f"linalg.{name}"].loops.partition("->")[0]))
    is_pool = name.startswith("pooling")
    start = "0xFF800000" if name.endswith("max") else "0.0"
    window = f"%w = tensor.empty() : {filters}" if is_pool else ""
    attributes = f"""strides = dense<{list(strides[:count])}> : tensor<{count}xi64>,
      dilations = dense<{list(dilations[:count])}> : tensor<{count}xi64>"""
    return f"""func.func @f(%x: {image}{"" if is_pool else f", %w: {filters}"}) -> {out} {{
%z = arith.constant {start} : f32
{window}
%e = tensor.empty() : {out}
%f = linalg.fill ins(%z : f32) outs(%e : {out}) -> {out}
%y = linalg.{name} {{{attributes}}} ins(%x, %w : {image}, {filters}) outs(%f : {out}) -> {out}
{after.format(out=out) or f"return %y : {out}"} }}"""


def check(text, seed=0):
    """The normalized program computes the same values; it is returned, with the number of kernels for windows."""
    modules = [ir.parse(text), ir.parse(text)]
    ir.run_passes(modules[1], "normalize-layouts")
    modules[1].verify()
    generator = np.random.default_rng(seed)
    types = [value.type for value in modules[0].functions[0].regions[0].blocks[0].arguments]
    arrays = [np.float32(generator.normal(size=type.shape)) for type in types]
    results = [Interpreter(module).call(module.function("f"), arrays) for module in modules]
    for one, other in zip(*results, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)
    again = str(modules[1])
    ir.run_passes(modules[1], "normalize-layouts")
    assert str(modules[1]) == again
    return modules[1]


def families(module):
    return {
        match.family
        for operation in module.operation.walk()
        for value in operation.results
        if operation.parent is not None
        for match in matches_of(value)
    }


@settings(max_examples=4, deadline=None)
@given(st.data())
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_every_convolution_of_linalg_becomes_a_kernel(name, data):
    taps, strides, dilations = ([data.draw(st.integers(1, most)) for _ in range(3)] for most in (3, 2, 2))
    module = check(program(name, taps, strides, dilations))
    assert families(module) & {"conv2d", "depthwise_conv2d"}


@settings(max_examples=4, deadline=None)
@given(st.data())
@pytest.mark.parametrize("name", POOLS)
def test_pools_become_a_kernel(name, data):
    taps, strides = ([data.draw(st.integers(1, most)) for _ in range(3)] for most in (3, 2))
    count = math.prod(taps[: TABLE[f"linalg.{name}"].windows])
    average = f"%n = arith.constant dense<{float(count)}> : {{out}}\n%q = arith.divf %y, %n : {{out}}\n"
    after = f"{average}return %q : {{out}}" if name.endswith("sum") else ""
    assert families(check(program(name, taps, strides, [1, 1, 1], after))) & {"avg_pool2d", "max_pool2d"}


QUANTIZED = {
    "conv_2d_nchw_fchw": "conv2d", "conv_1d_ncw_fcw": "conv2d", "conv_1d_nwc_wcf": "conv2d",
    "conv_3d_ndhwc_dhwcf": "conv2d", "conv_2d_ngchw_gfchw": "conv2d", "conv_2d_nhwgc_gfhwc": "conv2d",
    "depthwise_conv_2d_nhwc_hwcm": "depthwise_conv2d", "depthwise_conv_3d_ncdhw_cdhw": "conv2d",
    "pooling_nchw_max": "max_pool2d", "pooling_ncw_sum": "avg_pool2d", "pooling_ndhwc_max": "max_pool2d",
}  # fmt: skip


@pytest.mark.parametrize("target", ["qrt-cpu", "int16x8"])
@pytest.mark.parametrize("name", QUANTIZED)
def test_quantized_windows_are_kernels_alone(name, target):
    """Transposes, reshapes, slices and concatenations around a window are kernels too."""
    generator = np.random.default_rng(5)
    strides = [2, 1, 1]
    image, filters, _ = shapes(name, (2, 3, 2), strides, (1, 1, 1))
    average = f"%n = arith.constant dense<{float(math.prod((2, 3, 2)[: TABLE['linalg.' + name].windows]))}> : {{out}}\n"
    divided = f"{average}%v = arith.divf %y, %n : {{out}}\n" if name.endswith("sum") else ""
    result = stats("%r", "%v" if divided else "%y", "{out}", -4.0, 4.0).replace("{", "{{").replace("}", "}}")
    after = divided + result.replace("{{out}}", "{out}") + "\nreturn %r : {out}"
    text = program(name, (2, 3, 2), strides, (1, 1, 1), after)
    if not name.startswith("pooling"):
        dense = np.array2string(generator.uniform(-1, 1, filters), separator=",", threshold=10**6, precision=4)
        text = text.replace(f", %w: {tensor(filters)}", "")
        text = text.replace("%z =", f"%w = arith.constant dense<{' '.join(dense.split())}> : {tensor(filters)}\n%z =")
    text = text.replace("f(%x:", "f(%given:").replace(
        "%z =", f"{stats('%x', '%given', tensor(image), -2.0, 2.5)}\n%z =", 1
    )
    module = ir.parse(text)
    remarks = []
    with remarks_to(remarks.append):
        FuseKernels(target=target).run(module)
    assert [remark.message for remark in remarks] == []
    assert QUANTIZED[name] in {kernel_of(region) for region in regions(module)}
    check_export(module, target, generator)


CHAIN = """func.func @f(%x: tensor<?x3x8x8xf32>) -> tensor<?x4x3x3xf32> {
  %w = arith.constant dense<0.5> : tensor<5x3x3x3xf32>
  %v = arith.constant dense<0.25> : tensor<4x5x3x3xf32>
  %b = arith.constant dense<[0.1, 0.2, 0.3, 0.4, 0.5]> : tensor<5xf32>
  %z = arith.constant 0.0 : f32
  %0 = arith.constant 0 : index
  %n = tensor.dim %x, %0 : tensor<?x3x8x8xf32>
  %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %z : f32
  } : tensor<?x3x8x8xf32> to tensor<?x3x10x10xf32>
  %e = tensor.empty(%n) : tensor<?x5x8x8xf32>
  %s = linalg.broadcast ins(%b : tensor<5xf32>) outs(%e : tensor<?x5x8x8xf32>) dimensions = [0, 2, 3]
  %c = linalg.conv_2d_nchw_fchw ins(%p, %w : tensor<?x3x10x10xf32>, tensor<5x3x3x3xf32>)
    outs(%s : tensor<?x5x8x8xf32>) -> tensor<?x5x8x8xf32>
  %a = "quant.stats"(%c) {layerStats = dense<[-4.0, 4.0]> : tensor<2xf32>}
    : (tensor<?x5x8x8xf32>) -> tensor<?x5x8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<?x5x8x8xf32>) -> tensor<?x5x8x8xf32>
  %r = arith.maximumf %a, %f : tensor<?x5x8x8xf32>
  %t = math.tanh %r : tensor<?x5x8x8xf32>
  %m = arith.mulf %t, %r : tensor<?x5x8x8xf32>
  %e2 = tensor.empty(%n) : tensor<?x4x6x6xf32>
  %f2 = linalg.fill ins(%z : f32) outs(%e2 : tensor<?x4x6x6xf32>) -> tensor<?x4x6x6xf32>
  %d = linalg.conv_2d_nchw_fchw ins(%m, %v : tensor<?x5x8x8xf32>, tensor<4x5x3x3xf32>)
    outs(%f2 : tensor<?x4x6x6xf32>) -> tensor<?x4x6x6xf32>
  %h = tensor.empty() : tensor<2x2xf32>
  %low = arith.constant 0xFF800000 : f32
  %e3 = tensor.empty(%n) : tensor<?x4x3x3xf32>
  %f3 = linalg.fill ins(%low : f32) outs(%e3 : tensor<?x4x3x3xf32>) -> tensor<?x4x3x3xf32>
  %y = linalg.pooling_nchw_max {strides = dense<2> : tensor<2xi64>} ins(%d, %h : tensor<?x4x6x6xf32>, tensor<2x2xf32>)
    outs(%f3 : tensor<?x4x3x3xf32>) -> tensor<?x4x3x3xf32>
  return %y : tensor<?x4x3x3xf32>
}"""


def test_a_network_has_transposes_at_its_ends_alone():
    """A bias, a pad, annotations, functions and products are between; the number of images is not known."""
    module = ir.parse(CHAIN)
    ir.run_passes(module, "normalize-layouts")
    names = [operation.name for operation in module.functions[0].regions[0].blocks[0]]
    assert names.count("linalg.transpose") == 2
    assert names.count("linalg.conv_2d_nhwc_fhwc") == 2
    arrays = [np.random.default_rng(1).normal(size=(2, 3, 8, 8)).astype(np.float32)]
    before, after = (Interpreter(given).call(given.function("f"), arrays)[0] for given in (ir.parse(CHAIN), module))
    np.testing.assert_allclose(before, after, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("sizes", "shape"), [([1, 3, 1], [3]), ([1, 3, 1], [1, 3]), ([1, 1, 1], []), ([2, 1, 4], [2, 4])]
)
def test_a_slice_that_drops_axes_becomes_a_slice_and_a_reshape(sizes, shape):
    type_ = tensor(shape) if shape else "tensor<f32>"
    text = f"""func.func @f(%x: tensor<4x5x6xf32>) -> {type_} {{
  %y = tensor.extract_slice %x[1, 2, 0] {sizes} [1, 1, 1] : tensor<4x5x6xf32> to {type_}
  return %y : {type_} }}"""
    assert families(check(text)) >= {"slice", "reshape"}
