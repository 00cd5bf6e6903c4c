"""The rules of the quant ops that upstream does not have, each broken once."""

import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError

REGION = """
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {{
  %0 = quant.region (%x) {{
  ^bb0(%a: {argument}):
    %1 = tensor.empty() : tensor<2xf32>
    {last}
  }} {{input_specs = [{input}], output_specs = [{output}], kernel = "k"}} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}}"""
REGION_PARTS = {
    "argument": "tensor<2xf32>",
    "last": "quant.return %1 : tensor<2xf32>",
    "input": "f32",
    "output": "!quant.uniform<i8:f32, 0.5>",
}
WHOLE_REGION = REGION.format(**REGION_PARTS)
Q, W, Y = (f"tensor<2x2x!quant.uniform<i8:f32, {scale}>>" for scale in ("0.5", "0.25", "1.0:-1"))


def cast(source, result):
    return f'func.func @f(%x: {source}) {{ %0 = "quant.cast"(%x) : ({source}) -> {result}  return }}'


def matmul(attributes, result=Y):
    call = f'"quant.matmul"(%x, %w) {attributes} : ({Q}, {W}) -> {result}'
    return f"func.func @f(%x: {Q}, %w: {W}) {{ %0 = {call}  return }}"


def stats(attributes, type="tensor<2x3xf32>"):
    return f'func.func @f(%x: {type}) {{ %0 = "quant.stats"(%x) {{{attributes}}} : ({type}) -> {type}  return }}'


LAYER = "layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>"
AXIS = "axisStats = dense<0.0> : tensor<3x2xf32>"


@pytest.mark.parametrize(
    "text",
    [
        WHOLE_REGION,
        cast("tensor<2xf32>", "tensor<2x!quant.uniform<i8:f32, 1.0>>"),
        matmul('{requant = "fixed", output_scale = 1.0 : f64, output_zero_point = -1 : i64}'),
        stats(f"{LAYER}, {AXIS}, axis = 1"),
        stats(f"{LAYER}, {AXIS}, axis = 1", "tensor<?x?xf32>"),
    ],
)
def test_accepted(text):
    ir.parse(text).verify()


@pytest.mark.parametrize(
    ("text", "message", "part"),
    [
        (REGION.format(**REGION_PARTS | {"input": "f32, f32"}), "must have", "quant.region"),
        (REGION.format(**REGION_PARTS | {"output": ""}), "must have", "quant.region"),
        (
            REGION.format(**REGION_PARTS | {"input": "f64"}),
            "fits the shape, got f64",
            "quant.region",
        ),
        (
            REGION.format(**REGION_PARTS | {"output": "!quant.any<i8:f16>"}),
            "must be the element type of output #0",
            "quant.region",
        ),
        (REGION.format(**REGION_PARTS | {"input": "1"}), "fits the shape, got 1", "quant.region"),
        (
            REGION.format(**REGION_PARTS | {"argument": "tensor<3xf32>"}),
            "must have one block with arguments of the operands' types",
            "quant.region",
        ),
        (
            REGION.format(**REGION_PARTS | {"last": "quant.return"}),
            "must return values of its result types",
            "quant.region",
        ),
        (
            REGION.format(**REGION_PARTS | {"last": ""}),
            "block with no terminator|no terminator|ends with",
            "quant.region",
        ),
        (WHOLE_REGION.replace(" : (tensor", " (tensor"), "expected ':'", " "),
        (WHOLE_REGION.replace("= [f32]", "= f32"), "'input_specs' must be an array of types", "quant.region"),
        (WHOLE_REGION.replace("input_specs", "t.specs"), "requires attribute 'input_specs'", "quant.region"),
        (WHOLE_REGION.replace(', kernel = "k"', ""), "requires attribute 'kernel'", "quant.region"),
        (WHOLE_REGION.replace('"k"', "1"), "'kernel' must be a string", "quant.region"),
        ("func.func @f() { quant.return }", "expects parent op 'quant.region'", "quant.return"),
        (
            cast("tensor<2xf32>", "tensor<2x!quant.uniform<i8:f16, 1.0>>"),
            "between a quantized type and its expressed",
            "tensor<2x!quant.uniform<i8:f16, 1.0>>",
        ),
        (cast("tensor<2xf32>", "tensor<2xf32>"), "between a quantized type and its expressed", "tensor<2xf32>"),
        (
            cast("tensor<2xf32>", "tensor<3x!quant.uniform<i8:f32, 1.0>>"),
            "must have the same shape",
            "tensor<3x!quant.uniform<i8:f32, 1.0>>",
        ),
        (cast("f32", "!quant.uniform<i8:f32, 1.0>"), "operand #0 must be a tensor", "f32"),
        (
            matmul("{output_scale = 2.0 : f64}"),
            r"attribute 'output_scale' must be 1.0, because the result type is",
            "output_scale",
        ),
        (
            matmul("{output_zero_point = 1 : i64}"),
            "attribute 'output_zero_point' must be -1, because the result type is",
            "output_zero_point",
        ),
        (matmul('{output_scale = "x"}'), "'output_scale' must be a float", '"quant.matmul"'),
        (matmul("{output_zero_point = 1.0 : f64}"), "'output_zero_point' must be an integer", '"quant.matmul"'),
        (matmul('{requant = "sometimes"}'), "must be one of 'fixed'", '"quant.matmul"'),
        (matmul("{}", result=Y.replace("2x2", "2x3")), "result is declared as", Y.replace("2x2", "2x3")),
        (stats("axis = 1"), "requires attribute 'layerStats'", '"quant.stats"'),
        (stats("layerStats = dense<0.0> : tensor<3xf32>"), r"'layerStats' must have shape \[2\]", "layerStats"),
        (
            stats("layerStats = dense<0> : tensor<2xi32>"),
            "attribute 'layerStats' must have float elements",
            "layerStats",
        ),
        (stats(f"{LAYER}, {AXIS}"), "attribute 'axisStats' requires an integer attribute 'axis'", "axisStats"),
        (stats(f"{LAYER}, {AXIS}, axis = 2"), "attribute 'axis' must be at least 0 and less than the rank of", "axis"),
        (stats(f"{LAYER}, {AXIS}, axis = 0"), r"'axisStats' must have shape \[N, 2\]", "axisStats"),
        (stats("layerStats = 1"), "'layerStats' must be dense elements", '"quant.stats"'),
        (stats(f"{LAYER}, axisStats = 1, axis = 1"), "'axisStats' must be dense elements", '"quant.stats"'),
        (stats(f"{LAYER}, {AXIS}, axis = 1.0 : f64"), "'axis' must be an integer", '"quant.stats"'),
        (stats(LAYER).replace("-> tensor<2x3", "-> tensor<2x4"), "the same type for all operands", "tensor<2x4xf32>"),
        (stats(LAYER, "tensor<2xi8>"), "must be tensor of floating-point", "tensor<2xi8>"),
    ],
)
def test_refused_at_the_offending_part(text, message, part):
    """A region's specifications and its return are on other lines than its name."""
    with pytest.raises((ParseError, VerifyError), match=message) as caught:
        ir.parse(text).verify()
    place = caught.value.location
    assert place.source.text[place.start : place.end] == part
