"""Every form on every target, from floats to integers. Hazards: a form that fuses and cannot be exported; an export
with other bits than the generated code; a kernel whose rule is not that of the nearest result."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import ArrayAttr, TypeAttr
from qrt.quantization.fusion.fuse_kernels import FuseKernels
from qrt.quantization.propagation.propagate_quant import PropagateQuant
from qrt.quantization.verification.check_quant import CheckQuant
from qrt.types import NoQuantizedType, UniformType
from tests.quantization import checks
from tests.quantization.bodies import FORMS, function

TARGETS = ("qrt-cpu", "tflite", "int16x8", "int4-weights")
WEIGHTS = ("%w", "%b")
FLOAT_ERROR = 1e-3
"""The part of a code by which f64 and the tables of f32 functions may differ."""


def program(name, generator):
    """The program of a form, with constant weights and the ranges of its arguments and of its result."""
    arguments, body, returned, family = FORMS[name]
    is_product = family in ("matmul", "conv2d", "depthwise_conv2d")
    lines, given = [], []
    for argument in arguments.split(", "):
        value, type_ = argument.split(": ")
        shape = [int(size) for size in type_[7:-5].split("x")]
        if is_product and value in WEIGHTS:
            dense = np.array2string(generator.uniform(-1, 1, shape), separator=",", threshold=10**6, precision=4)
            lines.append(f"{value} = arith.constant dense<{' '.join(dense.split())}> : {type_}")
        else:
            low, high = (0.5, 3.0) if family == "div" and value == "%b" else (-3.0, 2.5)
            given.append(f"{value}_given: {type_}")
            lines.append(stats(value, f"{value}_given", type_, low, high))
    result, type_ = returned.split(": ")
    lines += [body, stats("%result", result, type_, -2.0, 4.0)]
    return ir.parse(function(", ".join(given), "\n".join(lines), f"%result: {type_}"))


def stats(result, value, type_, low, high):
    ends = f"{{layerStats = dense<[{low}, {high}]> : tensor<2xf32>}}"
    return f'{result} = "quant.stats"({value}) {ends} : ({type_}) -> {type_}'


def with_float_results(module):
    """A copy whose regions do not round their results."""
    copy = checks.copied(module)
    for region in checks.regions(copy):
        specs = [TypeAttr(NoQuantizedType(value.type.element)) for value in region.results]
        region.attributes["output_specs"] = ArrayAttr(tuple(specs))
    return copy


def check_half_a_code(module, target, generator):
    """Each kernel, on drawn codes, is within half a code of its float body in f64 on the same codes."""
    every = checks.regions(module)
    alone, specs = checks.side_by_side(every)
    fixed = qrt.compile(checks.exported(alone, "fixed", target))
    exact = qrt.compile(checks.exported(checks.in_doubles(str(with_float_results(alone))), "simulate", target))
    inputs = [checks.drawn_codes(port.type, spec, generator) for port, spec in zip(fixed.inputs, specs, strict=True)]
    results = fixed.run(checks.by_name(fixed, inputs)).values()
    doubles = exact.run(checks.by_name(exact, [array.astype(np.float64) for array in inputs])).values()
    for region, result, real in zip(every, results, doubles, strict=True):
        (spec,) = checks.specs(region, "output")
        assert isinstance(spec, UniformType)
        ends = [(code - spec.zero_point) * spec.scale for code in (spec.storage_min, spec.storage_max)]
        apart = np.abs(result - np.clip(real, *ends))[np.isfinite(real)] / spec.scale
        assert apart.max(initial=0) <= 0.5 + FLOAT_ERROR, checks.kernel_of(region)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_exported_and_is_the_nearest_result(name, target):
    generator = np.random.default_rng(3)
    module = program(name, generator)
    FuseKernels(target=target).run(module)
    kernels = {checks.kernel_of(region) for region in checks.regions(module)}
    family = {"clamp": "lookup"}.get(FORMS[name][3], FORMS[name][3])  # its result has a range of its own
    assert family in kernels or (name, target, kernels) == ("lookup", "tflite", {"tanh"})
    check_export(module, target, generator)


def check_export(module, target, generator):
    """A fused program quantizes, its exports have equal bits, and its kernels give the nearest results."""
    PropagateQuant(target=target).run(module)
    CheckQuant(target=target).run(module)
    inputs = [
        generator.uniform(-3, 3, value.type.shape).astype(np.float32)
        for value in module.functions[0].regions[0].blocks[0].arguments
    ]
    checks.same_bits(module, target, inputs)
    check_half_a_code(module, target, generator)
