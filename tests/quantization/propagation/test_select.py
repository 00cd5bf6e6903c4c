"""Hazards: a signature whose port has fewer values than an annotation asks for; a region left float in silence; a
kernel that a target lacks taken for another; scales along the wrong axis of filters.
"""

import pytest

from qrt import ir
from qrt.errors import VerifyError
from qrt.quantization.propagation.propagate_quant import propagate
from qrt.quantization.targets.model import Target, TargetKernel, TargetPort
from qrt.quantization.targets.registry import find
from tests.quantization.propagation.programs import (
    DEVICE,
    NONE,
    STRICT,
    WIDE,
    A,
    B,
    constant,
    function,
    range_of,
    region,
    run,
    types,
)


def storages(types: list[str]) -> list[str]:
    return [each.partition("<")[2].partition(":f32")[0] for each in types]


def test_the_first_signature_that_fits_is_taken() -> None:
    ask = "!quant.any<i9:f32>"
    lines = [
        region("%0", "op", "%x", range_of(-1, 1), range_of(-1, 1)),
        region("%1", "op", "%x", WIDE, range_of(-1, 1)),
        '%s = "quant.stats"(%x) {layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>} : (tensor<4xf32>) -> tensor<4xf32>',
        region("%2", "op", "%s", ask, range_of(-1, 1)),
    ]
    assert [storages(each) for each in run(function("%x", *lines)).of("op")] == [["i8"] * 2, ["i16"] * 2, ["i16"] * 2]


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ("i4", ["i8", "i4<-7:7>"]),  # the first of the two of 4 bits
        ("i5", ["i8", "i8"]),
        ("i9", ["i8", "i16"]),
    ],
)
def test_a_least_width_gets_the_fewest_bits(asked: str, taken: list[str]) -> None:
    """The target prefers 8 bits, which it has first; only a port that asks for fewer has fewer."""
    x, y = TargetPort("x", "i8"), TargetPort("y", "i8")
    weights = TargetPort("w", "i8"), TargetPort("w", "i16"), TargetPort("w", "i4", -7, 7), TargetPort("w", "i4")
    device = Target("several", tuple(TargetKernel("k", (x, w), (y,)) for w in weights))
    lines = [
        constant("%c", 1, 2, 3, 4),
        region("%0", "k", "%x, %c", [A, f"!quant.any<{asked}:f32>"], A),
        region("%1", "k", "%x, %c", [A, "f32"], A),
    ]
    least, none = run(function("%x", *lines), target=device).of("k")
    assert storages(least)[:2] == taken
    assert storages(none)[:2] == ["i8", "i8"]


def test_the_bits_of_all_ports_that_ask_are_added_up() -> None:
    """12 are fewer than 16, though one of the ports would have fewer yet; a port that says nothing does not count."""
    pairs = ("i8", "i8", "i32"), ("i4", "i16", "i8"), ("i8", "i4", "i16"), ("i4", "i8", "i32")
    kernels = tuple(
        TargetKernel("k", (TargetPort("a", a), TargetPort("b", b)), (TargetPort("y", y),)) for a, b, y in pairs
    )
    lines = [
        constant("%c", 1, 2, 3, 4),
        region("%0", "k", "%c, %c", ["!quant.any<i4:f32>", "!quant.any<i4:f32>"], range_of(-1, 1)),
        region("%1", "k", "%c, %c", ["!quant.any<i4:f32>", "f32"], range_of(-1, 1)),
    ]
    both, first = run(function("%x", *lines), target=Target("pairs", kernels)).of("k")
    assert storages(both) == ["i8", "i4", "i16"]
    assert storages(first) == ["i4", "i16", "i8"]


def test_a_definition_says_which_signature_its_use_has() -> None:
    """Without it the 16 bits that an annotation asks for would be 8 at once."""
    lines = [region("%0", "op", "%x", WIDE, range_of(-1, 1)), region("%1", "op", "%0", "f32", range_of(-1, 1))]
    result = run(function("%x", *lines))
    assert storages(result.of("op")[1]) == ["i16", "i16"]
    assert result.causes == []


@pytest.mark.parametrize("asked", ["!quant.any<i8:f32>", "!quant.any<i8<-126:127>:f32>", "!quant.any<u7<0:100>:f32>"])
def test_as_many_values_as_are_asked_for(asked: str) -> None:
    """Bounds that are written are a number of values; a width alone is met by narrow bounds too."""
    narrow = Target("narrow", (TargetKernel("k", (TargetPort("x", "i8", -126),), (TargetPort("y", "i8"),)),))
    fits = function("%x", constant("%c", 1, 2, 3, 4), region("%0", "k", "%c", asked, A))
    assert storages(run(fits, target=narrow).of("k")[0]) == ["i8<-126:127>", "i8"]
    with pytest.raises(VerifyError, match=r"k input 0 is !quant.any<i8<-127:127>:f32>.*needs i8<-126:127>"):
        run(function("%x", region("%0", "k", "%x", "!quant.any<i8<-127:127>:f32>", A)), STRICT, target=narrow)


@pytest.mark.parametrize(
    ("kernel", "count", "said"),
    [
        ("prodct", 2, "no kernel 'prodct': did you mean 'product'?"),
        ("zzz", 1, "no kernel 'zzz': it has op, any, wide"),
        ("op", 2, "with 2 operands and 1 results"),
    ],
)
def test_kernels_that_there_are_not(kernel: str, count: int, said: str) -> None:
    text = function("%x %y", region("%0", kernel, ", ".join(["%x", "%y"][:count]), range_of(-1, 1), A))
    with pytest.raises(VerifyError) as error:
        run(text)
    assert said in str(error.value)
    assert str(error.value).startswith("f.mlir:2:6: error")


def test_a_kernel_is_left_float_as_a_whole_and_says_so() -> None:
    lines = [region("%0", "op", "%x", range_of(-1, 1), A), region("%1", "op", "%0", "f32", NONE)]
    result = run(function("%x", *lines))
    assert result.of("op")[1] == [NONE, NONE]
    assert result.of("rescale") == [[A, NONE]]
    other = Target("other", DEVICE.kernels[3:])
    assert run(function("%x", region("%0", "op", "%x", NONE, NONE)), target=other).of("op") == [[NONE, NONE]]
    (remark,) = result.remarks
    assert remark.message == (
        "op stays float: op output 0 is !quant.none<f32>, and no signature of device accepts floats there"
    )
    assert remark.location is not None
    assert remark.location.line == 3


def test_a_port_of_floats() -> None:
    result = run(function("%x", region("%0", "float", "%x", "!quant.any<i8:f32>"), region("%1", "half", "%0")))
    assert result.of("float") == [[NONE, NONE]]
    assert result.of("half") == [["bf16", "bf16"]]
    assert result.of("rescale") == [[NONE, "bf16"]]


def test_a_type_of_more_codes_than_the_port_is_an_error() -> None:
    with pytest.raises(VerifyError, match=r"product input 1 is !quant.uniform<i8:f32.*needs i8<-127:127> symmetric"):
        run(function("%x %y", region("%0", "product", "%x, %y", A, A)), STRICT)
    with pytest.raises(VerifyError, match=r"middle input 0 is !quant\.uniform<i8:f32, 5\.0+e-01:3> .*symmetric"):
        run(function("%x", region("%0", "middle", "%x", "!quant.uniform<i8:f32, 0.5:3>", A)), STRICT)


def test_the_middle_is_that_of_the_port_and_not_of_the_bounds_within_it() -> None:
    right, wrong = (f"!quant.uniform<i8<-100:127>:f32, 5.000000e-01{zero}>" for zero in ("", ":14"))
    assert run(function("%x", region("%0", "middle", "%x", right, A))).of("middle") == [[right, A]]
    result = run(function("%x", region("%0", "middle", "%x", wrong, A)))
    assert result.of("middle") == [["!quant.uniform<i8<-114:113>:f32, 5.000000e-01>", A]], "the same values"
    assert "stores the codes of !quant.uniform<i8<-100:127>:f32, 5.000000e-01:14> as" in result.remarks[0].message


def test_an_operand_of_a_fixed_type_that_the_kernel_lacks_is_rescaled() -> None:
    """The type comes from outside of the region; one that the region itself asks for is an error."""
    lines = [
        f"%0 = quant.dcast %q : tensor<4x{WIDE}> to tensor<4xf32>",
        region("%1", "any", "%0", "f32", range_of(-1, 1)),
    ]
    text = function("%x", *lines).replace("%x: tensor<4xf32>", f"%q: tensor<4x{WIDE}>")
    result = run(text)
    ((source, taken),) = result.of("rescale")
    assert source == WIDE
    assert taken == result.of("any")[0][0]
    with pytest.raises(VerifyError, match="no signature of 'any'"):
        run(function("%x", region("%0", "any", "%x", WIDE)), STRICT)


def test_scales_are_along_the_channels_of_filters_in_any_order() -> None:
    """The kernel's filters are OHWI, axis 0; those of the program HWCF, whose channels are axis 3."""
    text = """func.func @main(%x: tensor<1x4x4x2xf32>) {
      %w = arith.constant dense<1.0> : tensor<3x3x2x5xf32>
      %y = quant.region (%x, %w) {
      ^bb0(%a: tensor<1x4x4x2xf32>, %c: tensor<3x3x2x5xf32>):
        %z = arith.constant 0.0 : f32
        %e = tensor.empty() : tensor<1x2x2x5xf32>
        %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
        %0 = linalg.conv_2d_nhwc_hwcf ins(%a, %c : tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>)
          outs(%f : tensor<1x2x2x5xf32>) -> tensor<1x2x2x5xf32>
        quant.return %0 : tensor<1x2x2x5xf32>
      } {input_specs = [!quant.calibrated<f32<-1.0:1.0>>, f32],
         output_specs = [!quant.calibrated<f32<-1.0:1.0>>], kernel = "conv2d"}
        : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x2x2x5xf32>
      return
    }"""
    module = ir.parse(text)
    propagate(module, find("tflite"))
    (region,) = (each for each in module.operation.walk() if each.name == "quant.region")
    assert types(region)[1].startswith("!quant.uniform<i8<-127:127>:f32:3, {")
    assert types(region)[1].count(",") == 5


def test_blocks_are_for_constants_that_they_divide() -> None:
    kernels = (
        TargetKernel("k", (TargetPort("w", "i4", blocks={0: 2}),), (TargetPort("y", "i8"),)),
        TargetKernel("k", (TargetPort("w", "i4", axis=0),), (TargetPort("y", "i8"),)),
        TargetKernel("k", (TargetPort("w", "i8"),), (TargetPort("y", "i8"),)),
    )
    lines = [
        constant("%c", 1, 2, 3, 4),
        region("%0", "k", "%c", "f32", A),
        region("%1", "k", "%x", range_of(-1, 1), A),
    ]
    by_block, one = run(function("%x", *lines), target=Target("t", kernels)).of("k")
    assert by_block[0].startswith("!quant.uniform<i4:f32:{0:2}, {")
    assert one[0].startswith("!quant.uniform<i4:f32, ")
    odd = Target(
        "t", (TargetKernel("k", (TargetPort("w", "i4", blocks={0: 3}),), (TargetPort("y", "i8"),)), *kernels[1:])
    )
    assert run(function("%x", *lines[:2]), target=odd).of("k")[0][0].startswith("!quant.uniform<i4:f32:0, {")


NARROW = "!quant.uniform<i4:f32, 5.000000e-01:-1>"


@pytest.mark.parametrize(
    ("kernel", "given", "stored"),
    [
        ("op", NARROW, "!quant.uniform<i8<-8:7>:f32, 5.000000e-01:-1>"),
        ("op", "!quant.uniform<u4:f32, 5.000000e-01:3>", "!quant.uniform<i8<0:15>:f32, 5.000000e-01:3>"),
        ("op", "!quant.uniform<u8:f32, 5.000000e-01:128>", A),
        ("middle", NARROW, "!quant.uniform<i8<-7:8>:f32, 5.000000e-01>"),
        ("wide", A, "!quant.uniform<i16<-128:127>:f32, 5.000000e-01>"),
        ("float", A, NONE),
        ("half", NARROW, "bf16"),
    ],
)
def test_codes_are_stored_where_the_target_has_room(kernel: str, given: str, stored: str) -> None:
    """A type that a kernel lacks, as of quantization-aware training in 4 bits: the values are the same."""
    result = run(function("%x", region("%0", kernel, "%x", given, range_of(-1, 1))))
    assert result.of(kernel)[0][0] == stored
    (remark,) = result.remarks
    assert f"{kernel} input 0 " in remark.message
    assert given in remark.message


def test_a_signature_with_the_fewest_changes_is_taken() -> None:
    kernels = (
        TargetKernel("k", (TargetPort("x", "i8"), TargetPort("w", "i8")), (TargetPort("y", "i8"),)),
        TargetKernel("k", (TargetPort("x", "i8"), TargetPort("w", "i4")), (TargetPort("y", "i8"),)),
    )
    text = function("%x %y", region("%0", "k", "%x, %y", [NARROW, NARROW], A))
    result = run(text, target=Target("mixed", kernels))
    assert result.of("k") == [["!quant.uniform<i8<-8:7>:f32, 5.000000e-01:-1>", NARROW, A]]


@pytest.mark.parametrize("given", [WIDE, "!quant.uniform<i8:f32, 0.5:3>", "!quant.any<i16:f32>"])
def test_a_region_that_no_signature_fits_stays_float(given: str) -> None:
    lines = [region("%0", "middle", "%x", given, A), region("%1", "op", "%0", B, A)]
    result = run(function("%x", *lines))
    assert result.of("middle") == [[NONE, NONE]]
    assert result.of("op") == [[B, A]]
    (remark,) = result.remarks
    assert remark.message.startswith("middle stays float: no signature of 'middle' in target device fits: ")
    with pytest.raises(VerifyError, match="no signature of 'middle' in target device fits"):
        run(function("%x", *lines), STRICT)
