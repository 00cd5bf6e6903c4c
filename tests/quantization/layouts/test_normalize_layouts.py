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
from qrt.quantization.forms import readings_of
from qrt.runtime.interpreter import Interpreter
from tests.quantization.forms.test_drawn_forms import tensor

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
        reading.family
        for operation in module.operation.walk()
        for value in operation.results
        if operation.parent is not None
        for reading in readings_of(value)
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
