"""Strides and padding in every spelling that an op of a program takes: all mean the nested lists, to the verifier, the
kernels, the interpreter and the lowering. Hazard: a flat list read in another order, or by one consumer alone."""

import re

import numpy as np
import pytest

import qrt
from qrt.errors import VerifyError
from qrt.ir import parse, run_passes

X, W = "tensor<1x6x5x2x!quant.uniform<i8:f32, 0.5:3>>", "tensor<3x2x3x2x!quant.uniform<i8:f32, 0.25>>"
ELEMENT = "!quant.uniform<i8:f32, 2.0:-1>"
OPS = {
    "qrt.conv2d": "%0 = qrt.conv2d %x, %w {ATTRIBUTES} : (X, W) -> OUT",
    "quant.conv2d": '%0 = "quant.conv2d"(%x, %w) {ATTRIBUTES} : (X, W) -> OUT',
    "qrt.max_pool2d": "%0 = qrt.max_pool2d %x {kernel = dense<[2, 3]> : tensor<2xi64>, ATTRIBUTES} : (X) -> POOLED",
}
SPELLINGS = [
    ("strides = [2, 2]", "strides = dense<2> : tensor<2xi64>"),
    ("strides = [2, 1]", "strides = dense<[2, 1]> : tensor<2xi64>"),
    ("strides = [2, 1]", "strides = array<i64: 2, 1>"),
    ("padding = [[1, 0], [0, 2]]", "padding = [1, 0, 0, 2]"),
    ("padding = [[1, 0], [0, 2]]", "padding = array<i64: 1, 0, 0, 2>"),
    ("padding = [[1, 0], [0, 2]]", "padding = dense<[1, 0, 0, 2]> : tensor<4xi64>"),
    ("padding = [[1, 0], [0, 2]]", "padding = dense<[[1, 0], [0, 2]]> : tensor<2x2xi32>"),
    ("padding = [[1, 1], [0, 0]]", "padding = [1, 0]"),
    ("padding = [[1, 1], [1, 1]]", "padding = dense<1> : tensor<2x2xi64>"),
    ("padding = [[0, 0], [0, 0]]", 'padding = "VALID"'),
]


def program(op: str, attributes: str) -> str:
    strides = np.array(re.findall(r"\d+", attributes.partition("=")[2]), int) if "strides" in attributes else [1, 1]
    sums = [0, 0] if "strides" in attributes else [sum(p) for p in _pairs(attributes)]
    rows, columns = ((n + p - k) // s + 1 for n, p, k, s in zip((6, 5), sums, (2, 3), strides, strict=True))
    body = OPS[op].replace("ATTRIBUTES", attributes if "strides" in attributes else f"strides = [1, 1], {attributes}")
    out = {"OUT": f"tensor<1x{rows}x{columns}x3x{ELEMENT}>"}
    out["POOLED"] = f"tensor<1x{rows}x{columns}x2x!quant.uniform<i8:f32, 0.5:3>>"
    result = out["POOLED" if "pool" in op else "OUT"]
    text = f"func.func @main(%x: X, %w: W) -> {result} {{\n  {body}\n  return %0 : {result}\n}}"
    for name, type in (*out.items(), ("X", X), ("W", W)):
        text = re.sub(rf"\b{name}\b", type, text)
    return text


def _pairs(attributes: str) -> list[list[int]]:
    top, bottom, left, right = map(int, re.findall(r"\d+", attributes))
    return [[top, bottom], [left, right]]


def results(text: str, pipeline: str, interpret: bool) -> list[object]:
    compiled = qrt.compile(run_passes(parse(text), pipeline) if pipeline else parse(text))
    rng = np.random.default_rng(1)
    arrays = [rng.integers(-128, 128, shape).astype(np.int8) for shape in ((1, 6, 5, 2), (3, 2, 3, 2))]
    inputs = {port.name: array for port, array in zip(compiled.inputs, arrays, strict=True)}
    return [np.asarray(value.storage).tolist() for value in compiled.run(inputs, interpret=interpret).values()]


@pytest.mark.parametrize(("nested", "spelling"), SPELLINGS)
@pytest.mark.parametrize("op", OPS)
def test_a_spelling_means_the_nested_lists(op: str, nested: str, spelling: str) -> None:
    text = program(op, nested)
    expected = results(text, "", interpret=False)
    spelled = text.replace(nested, spelling)
    assert spelled != text
    for pipeline in ("", "lower-qrt", "canonicalize,lower-qrt{to=loops}"):
        for interpret in (False, True):
            assert results(spelled, pipeline, interpret) == expected


@pytest.mark.parametrize(
    ("attribute", "message"),
    [
        (
            'padding = "SAME"',
            "'padding' must be numbers in a program, got 'SAME': write [[0, 1], [1, 1]]",
        ),
        ('padding = "same"', "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got"),
        ("padding = [1, 1, 1]", "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got"),
        (
            "padding = dense<1> : tensor<i64>",
            "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got",
        ),
        ("padding = [true, false]", "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got"),
        ("padding = [1, -1]", "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got"),
        ("strides = dense<2> : tensor<3xi64>", "'strides' must be two positive integers, got (2, 2, 2)"),
        ("strides = dense<2.0> : tensor<2xf32>", "'strides' must be two positive integers"),
    ],
)
def test_other_spellings_are_refused(attribute: str, message: str) -> None:
    nested = "padding = [[0, 0], [0, 0]]" if "padding" in attribute else "strides = [2, 2]"
    text = program("qrt.conv2d", nested).replace(nested, attribute)
    with pytest.raises(VerifyError, match=re.escape(message)):
        parse(text).verify()
