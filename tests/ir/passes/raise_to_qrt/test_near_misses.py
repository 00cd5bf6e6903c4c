"""Programs that are nearly a kernel: each is raised only if the kernel computes the same bits, and the remark names the
condition that does not hold. Hazards: a constant that is one off, sums that overflow, other loops, other buffers."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from qrt.ir import parse, run_passes
from tests.ir.passes.raise_to_qrt.harness import check_raised, check_same, kernels, raised, results
from tests.ir.passes.raise_to_qrt.test_lowered import BATCH_MATMUL, CONVOLUTION

MATMUL = """!x = tensor<2x19x!quant.uniform<i8:f32, 0.55:3>>
!w = tensor<19x3x!quant.uniform<i8:f32, 0.25:-7>>
!y = tensor<2x3x!quant.uniform<i8:f32, 4.0:-5>>
func.func @main(%x: !x, %w: !w) -> !y {
  %y = qrt.matmul %x, %w : (!x, !w) -> !y
  return %y : !y
}
"""


def lowered(form: str = "", text: str = MATMUL) -> str:
    return str(run_passes(parse(text), f"lower-qrt{{{form}}},quant-to-integer-types,canonicalize,cse"))


def changed(text: str, old: str, new: str) -> str:
    assert old in text, f"{old!r} is not in\n{text}"
    return text.replace(old, new, 1)


def check_not_raised(text: str, condition: str) -> None:
    """Assert that a program stays as it is, with a remark that names the condition."""
    module = parse(text)
    conditions = raised(module)
    assert not kernels(module), f"raised: {module}"
    assert any(re.search(condition, named) for named in conditions), conditions


LINALG = [
    ("17179869184 : i64", "17179869185 : i64", "the rounding constant 17179869185 is not half of 2.*N, with N = 35"),
    ("35 : i64", "34 : i64", "the rounding constant 17179869184 is not half"),
    ("17179869184 : i64", "0 : i64", "the rounding constant 0 is not half"),
    ("35 : i64", "64 : i64", "arith.shrsi shifts by all bits"),
    ("35 : i64", "0 : i64", "the sum is shifted by 0 places, not by 1 to 62"),
    ("1181116006 : i64", "2147483648 : i64", r"the multiplier 2147483648 is not between 1 and 2\*\*31 - 1"),
    ("1181116006 : i64", "-1181116006 : i64", "the multiplier -1181116006 is not between"),
    ("arith.extsi %25 : i32 to i64", "arith.extui %25 : i32 to i64", "the sum has several parts that are extended"),
    ("arith.maxsi", "arith.minsi", "the clamp has several bounds"),
    ("arith.maxsi %30, %2", "arith.addi %30, %2", "the result is not clamped to constants by arith.maxsi and"),
    ("127 : i64", "128 : i64", r"the clamp to \[-128, 128\] does not fit i8"),
    ("-128 : i64", "-129 : i64", r"the clamp to \[-129, 127\] does not fit i8"),
    ("arith.shrsi", "arith.shrui", "arith.shrui shifts a value that is not constant"),
    ("arith.shrsi", "arith.divsi", "arith.divsi is not a step of the integer arithmetic of kernels"),
    (
        "arith.muli %21, %22",
        "arith.muli %21, %21",
        "it adds 1 sums of products|neither a zero point nor a bias|factor is not",
    ),
    ("arith.addi %arg4, %23", "arith.subi %arg4, %23", "the sum of products is multiplied by a number"),
    ("arith.addi %arg4, %23", "arith.subi %23, %arg4", "does something else with its accumulator than adding to it"),
    ("arith.addi %arg4, %23", "arith.muli %arg4, %23", "does something else with its accumulator than adding to it"),
    (
        "ins(%arg0 : tensor<2x19xi8>) outs(%11",
        "ins(%other : tensor<2x19xi8>) outs(%11",
        "neither a zero point nor a bias",
    ),
    ("arith.muli %arg3, %7", "arith.muli %arg3, %arg3", "neither a zero point nor a bias"),
    (
        "(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine",
        "(d0, d1) -> (0)>, affine_map<(d0, d1) -> (d1)>, affine",
        "neither a",
    ),
    ("arith.muli %arg4, %8", "arith.muli %arg4, %arg3", "neither a zero point nor a bias"),
]


@pytest.mark.parametrize(("old", "new", "condition"), LINALG)
def test_one_operation_off(old: str, new: str, condition: str) -> None:
    text = lowered().replace("(%arg0: tensor<2x19xi8>", "(%other: tensor<2x19xi8>, %arg0: tensor<2x19xi8>")
    check_not_raised(changed(text, old, new), condition)


def constants(text: str) -> Iterator[tuple[str, str]]:
    """Yield each scalar constant of a program, and the number one above and one below it."""
    for constant in re.finditer(r"arith\.constant (-?\d+) : (i32|i64)\n", text):
        for step in (-1, 1):
            number = int(constant[1]) + step
            yield constant[0], f"arith.constant {number} : {constant[2]}\n"


@pytest.mark.parametrize("form", ["", "zero-point=in-loop", "to=loops", "to=dot4"])
def test_one_constant_off(form: str) -> None:
    """Most constants belong to another kernel, which computes the changed program; the others are not raised."""
    text, refused = lowered(form), 0
    for old, new in constants(text):
        before, module = parse(changed(text, old, new)), parse(changed(text, old, new))
        conditions = raised(module)
        assert bool(conditions) != bool(kernels(module))
        refused += bool(conditions)
        check_same(before, module, [1])
    assert refused >= 4  # the rounding constant and the shift, both ways


def wide(depth: int) -> str:
    return lowered(text=MATMUL.replace("19", str(depth)).replace("0.55:3", "0.5").replace("0.25:-7", "0.25"))


def test_the_longest_sum() -> None:
    """131071 products of -128 * -128 fit 32 bits; one more does not, and wraps around in the program."""
    longest = wide(131071)
    check_raised(longest, ["qrt.matmul"], [1])
    check_not_raised(longest.replace("131071", "131072"), "the sum may reach 2147483648, which overflows i32")


def test_the_clamp_in_32_bits() -> None:
    """Scaled by almost 2, a sum of 19 products fits i32; a longer one may not, and `arith.trunci` would wrap."""
    fast = changed(changed(BATCH_MATMUL, "137438953472", "1073741824"), "38 : i64", "31 : i64")
    check_raised(fast, ["qrt.matmul"])
    faster = changed(changed(BATCH_MATMUL, "137438953472", "1"), "38 : i64", "1 : i64")
    check_not_raised(faster, "the scaled sum may overflow i32")


def test_the_product_in_64_bits() -> None:
    """4 products of -2**15 * -2**15 have 32 bits and a sign; a multiplier of 31 bits makes a product of 63 bits."""
    text = MATMUL.replace("i8:f32, 0.55:3", "i16:f32, 0.55").replace("i8:f32, 0.25:-7", "i16:f32, 0.25")
    fits = lowered(text=text.replace("19", "4"))
    check_raised(fits, ["qrt.matmul"])
    check_not_raised(
        changed(fits, "1181116006", "2147483647"), "the product of the sum and the multiplier may overflow i64"
    )


@pytest.mark.parametrize(
    ("old", "new", "condition"),
    [
        ("%za8 = arith.constant 3", "%za8 = arith.constant 4", "the padding 4 is not the zero point 3 of what it pads"),
        ("low[0, 1, 1, 0] high[0, 1, 1, 0]", "low[0, 2, 1, 0] high[0, 0, 1, 0]", ""),
        ("dense<1> : tensor<2xi64>, strides", "dense<[1, 1]> : tensor<2xi64>, strides", ""),
        ("[38, 37, 39]", "[38, 37, 64]", "shifts by all bits"),
        ("[1000, -70000, 5]", "[1000, -70000, 2147483000]", "the sum may reach 214.*, which overflows i32"),
        (
            "#channel = affine_map<(n, h, w, c) -> (c)>",
            "#channel = affine_map<(n, h, w, c) -> (h floordiv 2)>",
            "differ along another",
        ),
    ],
)
def test_convolutions(old: str, new: str, condition: str) -> None:
    """Other padding is another kernel; padding with another value than the zero point is none."""
    text = changed(CONVOLUTION, old, new)
    if condition:
        check_not_raised(text, condition)
    else:
        check_raised(text, ["qrt.conv2d"])


LOOPS = [
    ("affine.store %23, %14[%arg2, %arg3]", "affine.store %23, %14[%arg2, 0]", "in another order than its loops"),
    (
        "affine.for %arg2 = 0 to 2 {\n      affine.for %arg3 = 0 to 3 {\n        affine.store %9",
        "affine.for %arg2 = 1 to 2 {\n      affine.for %arg3 = 0 to 3 {\n        affine.store %9",
        "does not count from 0 to a constant",
    ),
    (
        "affine.for %arg4 = 0 to 19",
        "affine.for %arg4 = 0 to 18",
        "neither a zero point nor a bias|is not the one that is summed",
    ),
    (
        "affine.for %arg2 = 0 to 3 {\n      affine.store %9, %13",
        "affine.for %arg2 = 0 to 2 {\n      affine.store %9, %13",
        "does not fill its buffer",
    ),
    (
        "    %15 = memref.alloc",
        "    affine.store %9, %14[0, 0] : memref<2x3xi32>\n    %15 = memref.alloc",
        "filled by other operations than one nest",
    ),
    (
        "    %15 = memref.alloc",
        "    memref.store %9, %14[%c, %c] : memref<2x3xi32>\n    %15 = memref.alloc",
        "filled by other operations than one nest",
    ),
    (
        "    %15 = memref.alloc",
        "    memref.store %b, %12[%c, %c] : memref<19x3xi8>\n    %15 = memref.alloc",
        "the buffer of a tensor is not only read",
    ),
]


@pytest.mark.parametrize(("old", "new", "condition"), LOOPS)
def test_one_loop_off(old: str, new: str, condition: str) -> None:
    text = lowered("to=loops")
    text = changed(
        text,
        "    %10 = bufferization",
        "    %c = arith.constant 0 : index\n    %b = arith.constant 1 : i8\n    %10 = bufferization",
    )
    check_not_raised(changed(text, old, new), condition)


def test_a_buffer_that_is_read_before_it_is_filled() -> None:
    text = lowered("to=loops")
    first, second = text.index("    %12 = bufferization"), text.index("    %14 = memref.alloc")
    last = text.index("    %15 = memref.alloc")
    nest = text[text.index("    affine.for", text.index("%11 = memref.alloc")) : first]
    moved = text.replace(nest, "")
    end = moved.index("    %16 = bufferization")
    check_not_raised(moved[:end] + nest + moved[end:], "a buffer is read before it is filled")
    assert first < second < last


def test_a_sum_over_a_part_of_the_operands() -> None:
    text = lowered("to=loops")
    assert text.count("= 0 to 19 {") == 3
    check_not_raised(text.replace("= 0 to 19 {", "= 0 to 18 {"), "is not the one that is summed")


def test_a_result_of_fewer_rows() -> None:
    """The loops of a convolution, or of a nest, may end before those of the kernel."""
    check_not_raised(
        CONVOLUTION.replace("1x6x6x3x", "1x5x6x3x"), "qrt.conv2d would give tensor<1x6x6x3x.*the program gives"
    )
    text = lowered("to=loops")
    argument = text.replace("%arg0: tensor<2x", "%arg0: tensor<3x").replace("%arg0 : tensor<2x", "%arg0 : tensor<3x")
    check_not_raised(argument.replace("memref<2x19xi8>", "memref<3x19xi8>"), "qrt.matmul would give tensor<3x3x")


@pytest.mark.parametrize(
    ("old", "new", "condition"),
    [
        ("-128 : i8", "-127 : i8", "arith.xori changes other bits than the highest"),
        ("vector.reduction <add>", "vector.reduction <mul>", "a vector.reduction is not a sum that is added"),
        ("(d0 * 64)", "(d0 * 32)", "a vector.load does not read one chunk after another"),
        ("high[0, 62]", "high[1, 62]", ""),
    ],
)
def test_one_vector_off(old: str, new: str, condition: str) -> None:
    text = lowered("to=dot4", MATMUL.replace("19", "130"))
    if condition:
        check_not_raised(changed(text, old, new), condition)


def test_the_start_of_an_accumulator() -> None:
    """An accumulator that is stored after its loop, and one that the loop reads elsewhere."""
    text = lowered("to=loops")
    start = "        affine.store %9, %14[%arg2, %arg3] : memref<2x3xi32>\n"
    body = text[text.index(start) + len(start) :]
    loop = body[: body.index("        }\n") + len("        }\n")]
    check_not_raised(changed(text, start + loop, loop + start), "an accumulator is not stored before its loop")
    load = "%19 = affine.load %14[%arg2, %arg3]"
    check_not_raised(changed(text, load, "%19 = affine.load %14[%arg2, 0]"), "a buffer is read before it is filled")
    other = "%25 = affine.load %14[%arg2, 0] : memref<2x3xi32>\n          "
    check_not_raised(changed(text, load, other + load), "a buffer is read before it is filled")


def test_a_tensor_of_an_iteration() -> None:
    """A kernel before the loop cannot read a tensor that the loop makes."""
    text = lowered("to=loops")
    load = "          %18 = affine.load %12[%arg4, %arg3] : memref<19x3xi8>\n"
    own = (
        "          %e = tensor.empty() : tensor<19x3xi8>\n"
        "          %f = bufferization.to_buffer %e : tensor<19x3xi8> to memref<19x3xi8>\n"
    )
    text = changed(text, load, own + load.replace("%12", "%f"))
    text = text.replace("%23 = arith.subi %21, %22", "%23 = arith.addi %21, %9")
    check_not_raised(text, "a tensor that is read is defined in a loop")


def test_padding_of_images() -> None:
    text = CONVOLUTION.replace("low[0, 1, 1, 0]", "low[1, 1, 1, 0]").replace("tensor<1x8x8x2", "tensor<2x8x8x2")
    check_not_raised(
        text.replace("x6x6x3x", "X").replace("1X", "2x6x6x3x"), "dimensions other than height and width are padded"
    )


BIASED = """!x = tensor<3x19x!quant.uniform<i8:f32, 0.5>>
!w = tensor<19x3x!quant.uniform<i8:f32, 0.25>>
!b = tensor<3x!quant.uniform<i32:f32, 0.125>>
!y = tensor<3x3x!quant.uniform<i8:f32, 4.0:-5>>
func.func @main(%x: !x, %w: !w, %b: !b) -> !y {
  %y = qrt.matmul %x, %w, %b : (!x, !w, !b) -> !y
  return %y : !y
}
"""


@pytest.mark.parametrize(
    ("old", "new", "condition"),
    [
        ("affine_map<(d0, d1) -> (d1)>", "affine_map<(d0, d1) -> (d0)>", "the bias is not indexed by the last loop"),
        ("affine_map<(d0, d1) -> (d1)>", "affine_map<(d0, d1) -> (0)>", "the bias is not indexed by the last loop"),
        ("arith.extsi %arg4 : i32", "arith.extui %arg4 : i32", ""),
    ],
)
def test_biases(old: str, new: str, condition: str) -> None:
    text = lowered("zero-point=in-loop", BIASED)
    check_raised(text, ["qrt.matmul"])
    if condition:
        check_not_raised(text.replace(old, new), condition)


def test_long_chains() -> None:
    """A chain of tensors, or of scalars, ends with a remark and not with an error; products of sums stay small."""
    text = lowered("zero-point=in-loop", BIASED)
    product = "      %14 = arith.muli %12, %13 : i32\n"

    def check(operation: str, count: int, condition: str) -> None:
        chain = "".join(f"      %c{i + 1} = arith.{operation.format(f'%c{i}')} : i32\n" for i in range(count))
        long = changed(text, product, f"      %c0 = arith.addi %12, %13 : i32\n{chain}")
        check_not_raised(long.replace("%arg5, %14", f"%arg5, %c{count}"), condition)

    check("addi {0}, %13", 3000, "it is computed by more than 100 operations in a row")
    check("muli {0}, {0}", 20, "it multiplies sums of many terms")


BATCHES = """!x = tensor<2x2x9x!quant.uniform<i8:f32, 0.5:3>>
!w = tensor<2x9x3x!quant.uniform<i8:f32, 0.25>>
!y = tensor<2x2x3x!quant.uniform<i8:f32, 4.0:-5>>
func.func @main(%x: !x, %w: !w) -> !y {
  %y = qrt.matmul %x, %w : (!x, !w) -> !y
  return %y : !y
}
"""
IMAGES = """!x = tensor<1x5x5x2x!quant.uniform<i8:f32, 0.5:3>>
!w = tensor<3x2x2x2x!quant.uniform<i8:f32, 0.25>>
!y = tensor<1x4x4x3x!quant.uniform<i8:f32, 4.0:-5>>
func.func @main(%x: !x, %w: !w) -> !y {
  %y = qrt.conv2d %x, %w : (!x, !w) -> !y
  return %y : !y
}
"""


def test_batches_in_another_order() -> None:
    text = lowered("zero-point=in-loop", BATCHES)
    check_raised(text, ["qrt.matmul"])
    check_not_raised(
        changed(text, "(d0, d1, d2, d3) -> (d0, d1, d3)", "(d0, d1, d2, d3) -> (d1, d0, d3)"),
        "is not indexed by the loops of the result in order|is not the one that is summed",
    )


def test_rows_of_windows() -> None:
    text = lowered("to=loops zero-point=in-loop", IMAGES)
    check_raised(text, ["qrt.conv2d"])
    (row,) = re.findall(r"%arg\d+ \+ %arg\d+", text)[:1]
    (column,) = re.findall(r"%arg\d+ \+ %arg\d+", text)[1:2]
    first, tap = row.split(" + ")
    for index in (tap, first + " * -1 + " + tap, row + " + " + column.split(" + ")[1]):
        check_not_raised(changed(text, row, index), "a row or a column of the first factor is not that of a window")


def test_a_longer_bias() -> None:
    text = lowered("to=loops zero-point=in-loop", BIASED)
    check_raised(text, ["qrt.matmul"])
    text = text.replace("tensor<3xi32>", "tensor<4xi32>").replace("memref<3xi32>", "memref<4xi32>")
    check_not_raised(text, "the bias is not a vector of 3 integers")


def test_rescaled_biases() -> None:
    """Kernels rescale a bias by a multiplier of 31 bits, with the rounding constant that is half of the divisor."""
    text = lowered("zero-point=in-loop", BIASED.replace("i32:f32, 0.125", "i16:f32, 0.003:7"))
    check_raised(text, ["qrt.matmul"])
    (multiplier,) = re.findall(r"arith.constant (1[56]\d{8}) : i64", text)
    check_not_raised(changed(text, multiplier, str(int(multiplier) * 16 + 1)), "no scale of a bias has the multiplier")
    for half in ("17179869184", "34359738368"):
        check_not_raised(changed(text, half, str(int(half) + 1)), "is not rescaled by a positive|is not half of")


@pytest.mark.parametrize(
    ("step", "condition"), [("", ""), (" + 1", "adds elements of a padded tensor in another order")]
)
def test_padding_with_zeros(step: str, condition: str) -> None:
    """Zeros behind the last dimension are not added; a sum that begins later reads other elements."""
    text = lowered("to=loops zero-point=in-loop", BIASED)
    (buffer,) = re.findall(r"(%\d+) = bufferization.to_buffer %arg0", text)
    padded = (
        "%zero = arith.constant 0 : i8\n    %padded = tensor.pad %arg0 low[0, 0] high[0, 2] {\n"
        "    ^bb0(%i: index, %j: index):\n      tensor.yield %zero : i8\n    } : tensor<3x19xi8> to tensor<3x21xi8>\n"
        f"    {buffer} = bufferization.to_buffer %padded : tensor<3x21xi8> to memref<3x21xi8>"
    )
    text = text.replace(f"{buffer} = bufferization.to_buffer %arg0 : tensor<3x19xi8> to memref<3x19xi8>", padded)
    (load,) = re.findall(rf"affine.load {buffer}\[.*\] : memref<3x19xi8>", text)
    text = text.replace(load, load.replace("]", f"{step}]").replace("3x19", "3x21"))
    if condition:
        check_not_raised(text, condition)
    else:
        check_raised(text, ["qrt.matmul"])


DYNAMIC = MATMUL.replace("tensor<2x", "tensor<?x")


@pytest.mark.parametrize("rows", [0, 1, 5])
@pytest.mark.parametrize("form", ["", "zero-point=in-loop"])
def test_rows_that_are_known_at_run_time(form: str, rows: int) -> None:
    before, module = parse(lowered(form, DYNAMIC)), parse(lowered(form, DYNAMIC))
    assert raised(module) == []
    assert kernels(module) == ["qrt.matmul"]
    rng = np.random.default_rng(rows)
    arrays = [rng.integers(-128, 128, shape, np.int8) for shape in ((rows, 19), (19, 3))]
    (expected,) = results(before, arrays, interpret=True)
    for interpret in (True, False):
        np.testing.assert_array_equal(results(module, arrays, interpret)[0], expected)


@pytest.mark.parametrize(
    ("form", "text", "condition"),
    [
        ("to=loops", DYNAMIC, "an affine.for does not count from 0 to a constant"),
        (
            "",
            DYNAMIC.replace("x19", "x?").replace("<19", "<?"),
            "has a dynamic size|in i64|sums over a dimension of dynamic",
        ),
        (
            "",
            MATMUL.replace("19x3x", "19x?x").replace("tensor<2x3x", "tensor<2x?x"),
            "the size of dimension 1 of the result is dynamic, and none of the first factor",
        ),
    ],
)
def test_other_sizes_that_are_known_at_run_time(form: str, text: str, condition: str) -> None:
    check_not_raised(lowered(form, text), condition)


ELEMENTS = """!x = tensor<3x4x!quant.uniform<i8:f32, 0.55:3>>
!w = tensor<4x!quant.uniform<u8:f32, 0.25:7>>
!y = tensor<3x4x!quant.uniform<i8:f32, 1.1:-5>>
func.func @main(%x: !x, %w: !w) -> (!y, !y) {
  %y = qrt.mul %x, %w {requant = "fixed"} : (!x, !w) -> !y
  %z = qrt.requantize %x {requant = "fixed"} : (!x) -> !y
  return %y, %z : !y, !y
}
"""


PRODUCT = ELEMENTS.replace("3x4", "4x4").replace("(!y, !y)", "!y").replace("%y, %z : !y, !y", "%y : !y")


@pytest.mark.parametrize("form", ["", "to=loops"])
def test_elements(form: str) -> None:
    check_raised(lowered(form, ELEMENTS), ["qrt.mul", "qrt.requantize"])


@pytest.mark.parametrize(
    ("old", "new", "condition"),
    [
        ("arith.muli %11, %13", "arith.muli %11, %11", "neither an element nor a product of two elements"),
        ("arith.muli %11, %13", "arith.addi %11, %13", "not a product of two elements without a factor"),
        ("arith.muli %11, %13", "arith.muli %10, %12", ""),  # zero points of 0
        ("arith.extsi %14 : i32", "arith.extsi %10 : i32", ""),  # an element alone
        (
            "arith.addi %16, %4",
            "arith.addi %16, %5",
            "a constant is added after the extension of a value that may overflow",
        ),
        ("affine_map<(d0, d1) -> (d1)>", "affine_map<(d0, d1) -> (d0)>", "not those of the result's place"),
    ],
)
def test_one_element_off(old: str, new: str, condition: str) -> None:
    text = changed(lowered("", PRODUCT), old, new)
    if condition:
        check_not_raised(text, condition)
    else:
        check_raised(text, ["qrt.mul" if "muli" in old else "qrt.requantize"])


def test_a_product_and_a_square() -> None:
    more = "%25 = arith.muli %11, %11 : i32\n      %26 = arith.addi %14, %25 : i32\n      %15 = arith.extsi %26"
    text = changed(lowered("", PRODUCT), "%15 = arith.extsi %14", more)
    check_not_raised(text, "it is not a product of two elements without a factor")


def test_the_largest_product_of_elements() -> None:
    """Differences of 16-bit elements to a zero point at an end need 17 bits, and their product more than 32."""
    text = PRODUCT.replace("i8:f32, 0.55:3", "i16:f32, 0.55:1").replace("u8:f32, 0.25:7", "i16:f32, 0.25:1")
    near = lowered("", text)
    check_raised(near, ["qrt.mul"])
    far = changed(near, "arith.constant 1 : i32", "arith.constant 32767 : i32")
    check_not_raised(far, "the sum may reach 4294836225, which overflows i32")


def test_elements_of_other_ranks() -> None:
    """A dimension of size 1 that is left out is another shape."""
    text = lowered("", PRODUCT).replace("tensor<4xi8>", "tensor<1x1x4xi8>")
    check_not_raised(
        text.replace("(d0, d1) -> (d1)>", "(d0, d1) -> (0, 0, d1)>"), "not those of the result's place|would give"
    )


def test_a_multiple_of_an_element() -> None:
    element = ELEMENTS.replace("(!y, !y)", "!y").replace("%y, %z : !y, !y", "%z : !y")
    text = lowered("", element)
    check_raised(text, ["qrt.requantize"])
    (line,) = re.findall(r".*arith\.subi.*", text)
    check_not_raised(text.replace(line, line.replace("subi", "muli")), "not that of the result's place")


def test_an_accumulator_that_is_not_a_product() -> None:
    """The constant that is added after the product is not the product of the zero points."""
    text = lowered("", PRODUCT)
    more = "%25 = arith.addi %14, %6 : i32\n      %15 = arith.extsi %25"
    check_not_raised(
        changed(text, "%15 = arith.extsi %14", more),
        "the constant of a product of elements is not the product of the zero points",
    )


def test_the_least_multiplier() -> None:
    """Kernels give 0 for a multiplier below 2**-32; of a sum of 62 bits, `sum >> 62` with rounding may give 1."""
    text = MATMUL.replace("i8:f32, 0.55:3", "i16:f32, 0.55").replace("i8:f32, 0.25:-7", "i16:f32, 0.25")
    fits = lowered(text=text.replace("19", "4"))
    least = (
        fits.replace(" 1181116006 ", " 1 ").replace(" 17179869184 ", f" {1 << 61} ").replace(" 35 : i64", " 62 : i64")
    )
    check_raised(least, ["qrt.matmul"])
    check_not_raised(
        least.replace("i16", "i30").replace("4x3", "8x3").replace("2x4", "2x8"), "is less than kernels have"
    )


def test_programs_without_a_requantized_result_have_no_remark() -> None:
    body = "%y = arith.addi %x, %x : tensor<2xi8>\n  return %y : tensor<2xi8>"
    text = f"func.func @main(%x: tensor<2xi8>) -> tensor<2xi8> {{\n  {body}\n}}\n"
    module = parse(text)
    assert raised(module) == []
    assert str(module) == str(parse(text))
