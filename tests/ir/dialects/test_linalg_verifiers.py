"""linalg ops that do not fit together: refused with mlir-opt 22's words, as `VERDICTS` holds them."""

import re

import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError
from tests import mlir_opt

TYPES = {
    "t": "tensor<4x5xf32>",
    "d": "tensor<?x?xf32>",
    "v": "tensor<4xf32>",
    "w": "tensor<5xf32>",
    "s": "tensor<f32>",
    "c": "tensor<2x4x5xf32>",
    "b": "tensor<5x6xf32>",
    "o": "tensor<4x6xf32>",
    "x": "f32",
    "i": "index",
    "m": "memref<4x5xf32>",
    "image": "tensor<1x8x8x3xf32>",
    "kernel": "tensor<3x3x3x2xf32>",
    "conv": "tensor<1x6x6x2xf32>",
}
COPY = "{ ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 }"


def maps(*texts):
    return f"indexing_maps = [{', '.join(f'affine_map<{text}>' for text in texts)}]"


def generic(read, write="(d0, d1) -> (d0, d1)", operands="ins(t) outs(t)", body=COPY):
    kinds = 'iterator_types = ["parallel", "parallel"]'
    return f"linalg.generic {{{maps(read, write)}, {kinds}}} {operands} {body}"


SAME = "(d0, d1) -> (d0, d1)"
M, N, OUT = "(m, n, k) -> (m, k)", "(m, n, k) -> (k, n)", "(m, n, k) -> (m, n)"
CONV = "linalg.conv_2d_nhwc_hwcf {} ins(image, kernel) outs(conv)"

VERDICTS = {
    generic(SAME): "",
    generic("(d0, d1) -> (d0)"): (
        "'linalg.generic' op expected operand #0 rank (2) to match the result rank of indexing_map (1)"
    ),
    generic("(d0, d1) -> (d1, d0)"): (
        "'linalg.generic' op inferred input/output operand #1 has shape's dimension #0 to be 5, but found 4"
    ),
    generic("(d0, d1) -> (d0 + 1, d1)"): (
        "'linalg.generic' op inferred input/output operand #0 has shape's dimension #0 to be greater than or equal to "
        "5, but found 4"
    ),
    generic("(d0, d1) -> (d0 - 1, d1)"): (
        "'linalg.generic' op unexpected result less than 0 at expression #0 in (d0, d1) -> (d0 - 1, d1)"
    ),
    generic("(d0, d1) -> (d0)", "(d0, d1) -> (d0)", "ins(v) outs(v)"): (
        "'linalg.generic' op invalid indexing maps are non-invertible: ((d0, d1) -> (d0, d0))"
    ),
    generic(SAME, body="{ ^bb0(%p: f32): linalg.yield %p : f32 }"): (
        "'linalg.generic' op expected as many non-induction variable region arguments as the number of input/output "
        "operands"
    ),
    generic(SAME, body="{ ^bb0(%p: f64, %q: f32): linalg.yield %q : f32 }"): (
        "'linalg.generic' op expected type of bb argument #0 ('f64') to match element or self type of the "
        "corresponding operand ('f32')"
    ),
    generic(SAME, body="{ ^bb0(%p: f32, %q: f32): linalg.yield %p, %q : f32, f32 }"): (
        "'linalg.yield' op expected number of yield values (2) to match the number of inits / outs operands of the "
        "enclosing LinalgOp (1)"
    ),
    generic(SAME, body="{ ^bb0(%p: f32, %q: f32): linalg.yield %i : index }"): (
        "'linalg.yield' op type of yield operand 1 ('index') doesn't match the element type of the enclosing "
        "linalg.generic op ('f32')"
    ),
    generic(SAME, body="{ ^bb0(%p: f32, %q: f32): %n = linalg.index 2 : index linalg.yield %p : f32 }"): (
        "'linalg.index' op expected dim (2) to be lower than the number of loops (2) of the enclosing LinalgOp"
    ),
    generic(SAME, operands="ins(t) outs(m)"): "'linalg.generic' op expected to have pure tensor or buffer semantics",
    generic(SAME, operands="ins(m) outs(m)"): "",
    "linalg.matmul ins(t, b) outs(o)": "",
    "linalg.matmul ins(t, t) outs(o)": (
        "'linalg.matmul' op inferred input/output operand #1 has shape's dimension #0 to be 5, but found 4"
    ),
    f"linalg.matmul {maps('(m, n, k) -> (m)', N, OUT)} ins(v, b) outs(o)": (
        "'linalg.matmul' op Invalid broadcast requested, should be (d2)."
    ),
    f"linalg.matmul {maps('(m, n, k) -> (k)', N, OUT)} ins(w, b) outs(o)": "",
    f"linalg.matmul {maps('(m, n, k) -> (k, m)', N, OUT)} ins(d, d) outs(d)": "",
    f"linalg.matmul {maps(OUT, N, OUT)} ins(d, d) outs(d)": (
        "'linalg.matmul' op Unexpected dim expression in map result."
    ),
    f"linalg.matmul {maps(M, N)} ins(d, d) outs(d)": (
        "'linalg.matmul' op expected the number of indexing_map (2) to be equal to the number of input/output operands "
        "(3)"
    ),
    f"linalg.contract {maps(M, N, OUT)} ins(t, b) outs(o)": "",
    f"linalg.contract {maps('(m, n, k) -> (m, k + 1)', N, OUT)} ins(d, d) outs(d)": (
        "provided affine_map is not a projected permutation"
    ),
    f"linalg.contract {maps(M, OUT, OUT)} ins(d, d) outs(d)": (
        "iteration space dim at index 2 is neither a contracting dim nor of parallel iteration type"
    ),
    f"linalg.contract {maps(SAME, SAME, SAME)} ins(d, d) outs(d)": (
        "'indexing_maps' do not specify a contracting dimension"
    ),
    CONV.format(""): "",
    CONV.format("{strides = dense<2> : tensor<2xi64>}"): (
        "'linalg.conv_2d_nhwc_hwcf' op inferred input/output operand #0 has shape's dimension #1 to be greater than or "
        "equal to 13, but found 8"
    ),
    "linalg.fill ins(i) outs(t)": (
        "'linalg.fill' op expected fill value type ('index') to match output element type ('f32')"
    ),
    "linalg.fill ins(s) outs(t)": "expected op with scalar input",
    "linalg.add ins(t, x) outs(t)": "",
    "linalg.add ins(t, c) outs(t)": (
        "'linalg.add' op expected operand #1 rank (3) to match the result rank of indexing_map (2)"
    ),
    "linalg.transpose ins(t) outs(d) permutation = [1, 0]": (
        "'linalg.transpose' op dim(result, 0) = -9223372036854775808 doesn't match dim(input, permutation[0]) = 5"
    ),
    "linalg.transpose ins(t) outs(t) permutation = [0, 0]": "'linalg.transpose' op permutation is not valid",
    "linalg.transpose ins(t) outs(t) permutation = [0]": (
        "'linalg.transpose' op size of permutation 1 does not match the argument rank 2"
    ),
    "linalg.transpose ins(t) outs(v) permutation = [0, 1]": (
        "'linalg.transpose' op input rank 2 does not match init rank 1"
    ),
    "linalg.broadcast ins(v) outs(t) dimensions = [1]": "",
    "linalg.broadcast ins(v) outs(t) dimensions = [0]": (
        "'linalg.broadcast' op input dim 0 should match init dim 1. input: 4, init: 5"
    ),
    "linalg.broadcast ins(v) outs(t) dimensions = [2]": (
        "'linalg.broadcast' op dimension 0 is out of range. expected range: [0, 1], got: 2"
    ),
    "linalg.broadcast ins(v) outs(t) dimensions = [0, 1]": (
        "'linalg.broadcast' op input rank plus added dimensions does not match init rank. input rank: 1, dimensions "
        "size: 2, init rank: 2"
    ),
    "linalg.reduce { arith.addf } ins(t) outs(v) dimensions = [1]": "",
    "linalg.reduce { arith.addf } ins(t) outs(v) dimensions = [2]": (
        "'linalg.reduce' op dimensions for reduction should be in the range [0, 1]."
    ),
    "linalg.reduce { arith.addf } ins(t) outs(t) dimensions = [1]": (
        "'linalg.reduce' op number of dimensions after reduction 1 doesn't match the init rank 2"
    ),
    "linalg.map { arith.addf } ins(t, t) outs(t)": "",
    "linalg.elementwise kind=#linalg.elementwise_kind<max_signed> ins(t, t) outs(t)": "",
}
"""An op of operands of `TYPES` -> what is wrong, or "" where nothing is."""

OURS = {
    "linalg.matmul ins(t) outs(o)": "'linalg.matmul' must have 2 inputs and 1 output, got 1 and 1",
    "linalg.abs ins(i) outs(t)": "'abs' does not support elements of type index",
    "linalg.map { arith.nothing } ins(t) outs(t)": "custom op 'arith.nothing' is unknown",
    CONV.format("{strides = dense<0> : tensor<2xi64>}"): (
        "'linalg.conv_2d_nhwc_hwcf' op attribute 'strides' must have values of 1 or more, got dense<0> : tensor<2xi64>"
    ),
}
"""What both refuse, each in its own words."""


def program(line):
    """The line in a function of all values, its operands' types added; tensors are results."""

    def operands(match):
        names = match[2].split(", ")
        listed = ", ".join(f"%{name}" for name in names)
        return f"{match[1]}({listed} : {', '.join(TYPES[name] for name in names)})"

    made = TYPES[re.search(r"outs\((\w+)\)", line)[1]]
    text = re.sub(r"(ins|outs)\(([\w, ]+)\)", operands, line)
    if made.startswith("tensor"):
        says_results = not re.match(r"linalg\.(map|reduce|transpose|broadcast) ", line)
        text = f"%0 = {text}" + (f" -> {made}" if says_results else "")
    arguments = ", ".join(f"%{name}: {type}" for name, type in TYPES.items())
    return f"func.func @f({arguments}) {{\n{text}\nreturn\n}}\n"


@pytest.mark.parametrize("line", [*VERDICTS, *OURS])
def test_verdict(line):
    message = (VERDICTS | OURS)[line]
    if not message:
        ir.parse(program(line)).verify()
        return
    with pytest.raises((ParseError, VerifyError)) as caught:
        ir.parse(program(line)).verify()
    assert caught.value.message == message


def test_a_named_op_has_its_own_body():
    """The custom form leaves the body out, so another one would be lost."""
    text = ir.parse(program("linalg.matmul ins(t, b) outs(o)")).print(generic=True)
    changed = ir.parse(text.replace('"arith.mulf"', '"arith.subf"'))
    with pytest.raises(
        VerifyError, match=r"must have the body arith.mulf, arith.addf, linalg.yield, but has arith.subf"
    ):
        changed.verify()


@mlir_opt.needed
def test_the_verdicts_are_those_of_mlir_opt():
    text = "// -----\n".join(map(program, VERDICTS))
    assert mlir_opt.errors(text, "--split-input-file") == [message for message in VERDICTS.values() if message]
    text = "// -----\n".join(map(program, OURS))
    assert len(mlir_opt.errors(text, "--split-input-file")) == len(OURS)
