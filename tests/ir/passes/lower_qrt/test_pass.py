"""The pass: its options, what they may and may not override, the stages that locations name, and what it refuses."""

import re

import pytest

from qrt.errors import ParseError, VerifyError
from qrt.ir import parse, run_passes
from tests.ir.passes.lower_qrt.harness import lowered

TYPES = {
    "!a": "!quant.uniform<i8:f32, 0.5:3>",
    "!w": "!quant.uniform<u8:f32, 0.25:128>",
    "!b": "!quant.uniform<i32:f32, 0.1>",
    "!o": "!quant.uniform<i8:f32, 30.0:-5>",
}
ALIASES = "".join(f"{name} = {type}\n" for name, type in TYPES.items())
MATMUL = (
    ALIASES
    + """func.func @main(%a: tensor<2x4x!a>, %w: tensor<4x3x!w>, %b: tensor<3x!b>) -> tensor<2x3x!o> {
  %0 = qrt.matmul %a, %w, %b {ATTRIBUTES} : (tensor<2x4x!a>, tensor<4x3x!w>, tensor<3x!b>) -> tensor<2x3x!o>
  return %0 : tensor<2x3x!o>
}
"""
)


def stages(text: str) -> list[str]:
    """The names of stages in the order they begin, neighbours once."""
    found = re.findall(r'loc\("([^"]*)"\)', text)
    return [name for i, name in enumerate(found) if i == 0 or found[i - 1] != name]


def test_locations_name_the_stages_in_the_order_of_the_sum() -> None:
    text = lowered(MATMUL.replace("ATTRIBUTES", ""), "to=loops").print(locations=True)
    end = stages(text)[stages(text).index("accumulate") :]
    assert end[:7] == [
        "accumulate", "requantize", "zero-point", "bias", "requantize", "output zero point", "clamp",
    ]  # fmt: skip


@pytest.mark.parametrize("said", ["", 'requant = "float32"', 'requant = "fixed"'])
@pytest.mark.parametrize("option", ["", "requant=float32", "requant=fixed"])
def test_the_option_is_for_ops_that_do_not_say(said: str, option: str) -> None:
    text = str(lowered(MATMUL.replace("ATTRIBUTES", said), option))
    assert ("math.roundeven" in text) == ("float32" in (said or option))


def test_terms_whose_zero_point_is_0_are_not_there() -> None:
    text = MATMUL.replace("ATTRIBUTES", "").replace("0.5:3", "0.5").replace("0.25:128", "0.25")
    assert str(lowered(text)).count('["parallel", "reduction"]') == 0
    assert stages(lowered(text).print(locations=True)).count("zero-point") == 0
    one = MATMUL.replace("ATTRIBUTES", "").replace("0.5:3", "0.5")
    assert str(lowered(one)).count('["parallel", "reduction"]') == 1


def test_sums_of_constant_weights_are_constants() -> None:
    """0 to 11 in rows of 3: the sums of the columns, read as u8."""
    constant = """%c = arith.constant dense<[[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, -1]]> : tensor<4x3xi8>
  %w = quant.scast %c : tensor<4x3xi8> to tensor<4x3x!w>
  %0"""
    text = MATMUL.replace("ATTRIBUTES", "").replace("%w: tensor<4x3x!w>, ", "").replace("%0", constant, 1)
    assert "arith.constant dense<[18, 22, 270]> : tensor<3xi32>" in str(lowered(text))


def test_in_the_loop_there_are_no_sums_of_one_operand() -> None:
    text = str(lowered(MATMUL.replace("ATTRIBUTES", ""), "zero-point=in-loop"))
    assert text.count('"reduction"') == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("zero-point=before", "zero-point must be one of post-accumulation, in-loop, auto, got 'before'"),
        ("to=llvm", "to must be one of linalg, loops, dot4, got 'llvm'"),
        (
            "requant=up",
            "requant must be one of fixed, fixed_double, fixed_double_f32, fixed_double_f32_product, float32",
        ),
    ],
)
def test_options_that_do_not_exist(options: str, message: str) -> None:
    with pytest.raises(ParseError, match=re.escape(message)):
        run_passes(parse(MATMUL.replace("ATTRIBUTES", "")), f"lower-qrt{{{options}}}")


REFUSED = [
    (
        "%0 = qrt.matmul %x, %y : (tensor<?x?x!a>, tensor<?x?x!s>) -> tensor<?x?x!o>",
        "'qrt.matmul' op cannot be lowered: the shape of sub-channel weights must be static",
    ),
    (
        "%0 = qrt.conv2d %c, %f {groups = 2 : i64} : (tensor<1x5x5x?x!a>, tensor<4x3x3x?x!a>) -> tensor<1x3x3x4x!o>",
        "'qrt.conv2d' op cannot be lowered: with groups = 2, the first and last dimension of the weights",
    ),
    (
        "%0 = qrt.depthwise_conv2d %c, %d : (tensor<1x5x5x?x!a>, tensor<3x3x4x!a>) -> tensor<1x3x3x4x!o>",
        "'qrt.depthwise_conv2d' op cannot be lowered: the number of channels (the last dimension) of",
    ),
    (
        "%0 = qrt.matmul %x, %x, %e : (tensor<?x?x!a>, tensor<?x?x!a>, tensor<?x!l>) -> tensor<?x?x!o>",
        "'qrt.matmul' op cannot be lowered: the bias overflows 64 bits when it is rescaled to the accumulator's scale",
    ),
]


@pytest.mark.parametrize(("op", "message"), REFUSED)
def test_refuses(op: str, message: str) -> None:
    """What has no lowering is an error at the op, with the reason."""
    text = ALIASES + (
        "!s = !quant.uniform<i8:f32:{0:2}, {{0.5}, {0.25}}>\n!l = !quant.uniform<i32:f32, 1.0e20>\n"
        "func.func @main(%x: tensor<?x?x!a>, %y: tensor<?x?x!s>, %e: tensor<?x!l>, %c: tensor<1x5x5x?x!a>, "
        f"%f: tensor<4x3x3x?x!a>, %d: tensor<3x3x4x!a>) {{\n  {op}\n  return\n}}"
    )
    with pytest.raises(VerifyError, match=re.escape(message)):
        lowered(text)
