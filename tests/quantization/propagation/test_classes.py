"""Hazards: a concat that takes the range of its first input and clips the others; annotations that win by the order of
dictionaries; a range made many times coarser because an edge is shared; a use that keeps a value float for all others.
"""

import pytest

from qrt.errors import VerifyError
from qrt.quantization.propagation.propagate_quant import Settings
from qrt.types import UniformType
from tests.quantization.propagation.programs import (
    FIXED,
    NONE,
    WIDE,
    A,
    B,
    T,
    constant,
    function,
    range_of,
    region,
    run,
)


def covered(type: str) -> tuple[float, float]:
    """The range of a type of i8."""
    import qrt

    t = qrt.parse_type(type, kind=qrt.UniformType)
    return (-128 - t.zero_point) * t.scale, (127 - t.zero_point) * t.scale


def test_a_concat_holds_the_range_of_every_input() -> None:
    lines = [
        region("%0", "op", "%x", range_of(-1, 1), range_of(-1, 1)),
        region("%1", "op", "%x", "f32", range_of(-3, 2)),
        region("%2", "join", "%0, %1", "f32"),
    ]
    result = run(function("%x", *lines))
    ((first, second, out),) = result.of("join")
    assert first == second == out
    assert covered(out)[0] <= -3
    assert covered(out)[1] >= 2
    assert result.of("op")[0][1] == out  # 3 + 2 is less than 4 times 1 + 1: no rescale
    assert result.causes == []


def test_an_edge_is_not_joined_beyond_the_limit_of_widening() -> None:
    def wide(high: float, limit: int) -> int:
        lines = [
            region("%0", "op", "%x", range_of(0, 1), range_of(0, 1)),
            region("%1", "op", "%x", "f32", range_of(0, high)),
            region("%2", "join", "%0, %1"),
        ]
        return run(function("%x", *lines), Settings(max_widening=limit)).outcome.rescales

    assert (wide(4, 4), wide(4.001, 4), wide(4.001, 5)) == (0, 1, 0)


def test_widening_does_not_creep_along_a_chain() -> None:
    """Each value is 3 times the one before: the last is 27 times the first, whose class must not be the last's."""
    lines = [region("%0", "op", "%x", range_of(0, 1), range_of(0, 1))]
    for n in range(1, 4):
        lines += [
            region(f"%s{n}", "op", "%x", "f32", range_of(0, 3**n)),
            region(f"%{n}", "join", f"%{n - 1}, %s{n}", "f32", range_of(0, 3**n)),
        ]
    result = run(function("%x", *lines))
    for (_, out), finest in zip(result.of("op"), (1, 3, 9, 27), strict=True):
        assert covered(out)[1] <= 4.1 * finest


def test_the_nearest_annotation_wins_and_a_tie_goes_to_the_first_port() -> None:
    """%1 may have the type of its operand, two edges away, or that of a use, one edge away."""
    lines = [
        region("%0", "op", "%x", range_of(-1, 1), A),
        region("%1", "join", "%0"),
        region("%2", "op", "%1", B, range_of(-1, 1)),
        region("%3", "op", "%1", A, range_of(-1, 1)),
    ]
    result = run(function("%x", *lines))
    assert result.of("join") == [[A, A]]
    lines[0] = region("%0", "any", "%x", range_of(-1, 1), range_of(-1, 1))
    result = run(function("%x", *lines))
    assert result.of("join") == [[B, B]]
    assert result.of("rescale") == [[B, A]]


def test_a_result_outranks_operands_where_a_kernel_has_one_type() -> None:
    lines = [region("%0", "join", "%x, %y", [A, A], B), region("%1", "join", "%x, %y", [A, B], "f32")]
    result = run(function("%x %y", *lines))
    assert result.of("join") == [[B, B, B], [A, A, A]]
    assert [remark.message.split(":")[0] for remark in result.remarks] == [
        "join input 0 is !quant.uniform<i8",
        "join input 1 is !quant.uniform<i8",
        "join input 1 is !quant.uniform<i8",
    ]


def test_none_wins_over_a_type_at_another_port_of_one_type() -> None:
    result = run(function("%x %y", region("%0", "float", "%x"), region("%1", "join", "%0")))
    assert result.of("join") == [[NONE, NONE]]


def test_a_use_that_stays_float_says_nothing_of_its_definition() -> None:
    lines = [region("%0", "any", "%x", range_of(-1, 1), range_of(-1, 1)), region("%1", "float", "%0")]
    result = run(function("%x", *lines))
    ((_, out),) = result.of("any")
    assert out.startswith("!quant.uniform<i8")
    assert result.of("rescale") == [[out, NONE]]


def test_a_type_is_not_taken_for_values_that_it_clips() -> None:
    """%0 is fixed to a range of 32, and the other operand reaches to 100."""
    lines = [
        region("%0", "op", "%x", range_of(-1, 1), B),
        region("%1", "op", "%x", "f32", range_of(-100, 100)),
        region("%2", "join", "%0, %1"),
    ]
    result = run(function("%x", *lines))
    ((first, _, out),) = result.of("join")
    assert first == out
    assert covered(out)[1] >= 100
    assert result.of("rescale") == [[B, out]]


def test_a_type_that_holds_a_range_is_taken_by_all_that_keep_it() -> None:
    """The range that the use says would give another type, and gain nothing."""
    lines = [region("%0", "op", "%x", range_of(-1, 1), B), region("%1", "pool", "%0", range_of(-1, 1))]
    result = run(function("%x", *lines))
    assert result.of("pool") == [[B, B]]
    assert result.causes == []


def test_a_use_takes_a_type_that_has_clipped_its_values() -> None:
    """The type of %0 ends below 1, as that of a logistic function does."""
    lines = [region("%0", "fixed", "%x", range_of(-1, 1)), region("%1", "op", "%0", range_of(0, 1), A)]
    result = run(function("%x", *lines))
    assert result.of("op")[0][0] == str(FIXED)
    assert result.causes == []


def test_a_use_of_a_narrow_type_clips_no_other_use() -> None:
    lines = [
        region("%0", "op", "%x", range_of(-1, 1), range_of(-100, 100)),
        region("%1", "op", "%0", B, A),
        region("%2", "op", "%0", "f32", A),
    ]
    result = run(function("%x", *lines))
    assert covered(result.of("op")[0][1])[1] >= 100
    assert [out for _, out in result.of("rescale")] == [B]


def test_ranges_reach_to_0_before_they_are_compared() -> None:
    """From 0.9 to 1 is a tenth of what is stored."""
    lines = [
        region("%0", "op", "%x", range_of(-1, 1), range_of(0.9, 1)),
        region("%1", "op", "%0", range_of(0, 2), A),
    ]
    assert run(function("%x", *lines)).causes == []


def test_storage_that_differs_is_rescaled() -> None:
    lines = [region("%0", "op", "%x", range_of(-1, 1), range_of(-1, 1)), region("%1", "wide", "%0", "f32", WIDE)]
    result = run(function("%x", *lines))
    assert len(result.of("rescale")) == 1
    assert result.of("wide")[0][0].startswith("!quant.uniform<i16")


def test_a_wildcard_takes_the_storage_of_its_neighbour_and_else_the_default() -> None:
    lines = [
        region("%0", "any", "%x", range_of(-1, 1), range_of(-1, 1)),
        region("%1", "wide", "%0", "f32", WIDE),
        region("%2", "any", "%x", "f32", range_of(-1, 1)),
        region("%3", "any", "%x", "f32", "!quant.any<i16:f32>"),
        region("%4", "wide", "%3", range_of(-1, 1), WIDE),
    ]
    result = run(function("%x", *lines))
    storages = [out.partition(":")[0] for _, out in result.of("any")]
    assert storages == ["!quant.uniform<i16", "!quant.uniform<i8", "!quant.uniform<i16"]


def test_a_width_that_is_asked_for_is_more_than_the_default() -> None:
    asked = "!quant.any<i12:f32>"
    stats = f'%1 = "quant.stats"(%0) {{layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>}} : ({T}) -> {T}'
    text = function("%x", region("%0", "any", "%x", range_of(-1, 1), asked), stats, returned="%1")
    assert run(text).of("any")[0][1].startswith("!quant.uniform<i12:f32")


def test_coupled_values_have_one_type() -> None:
    lines = [
        region("%0", "op", "%x", range_of(-1, 1), range_of(-1, 1)),
        f'%1 = "quant.coupled_ref"(%0) {{coupledKey = "k"}} : ({T}) -> {T}',
        region("%2", "op", "%1", "f32", range_of(-2, 2)),
        f'%3 = "quant.coupled_ref"(%2) {{coupledKey = "k"}} : ({T}) -> {T}',
    ]
    result = run(function("%x", *lines, returned="%3"))
    assert result.of("op")[0][1] == result.of("op")[1][1]
    assert "coupled_ref" not in str(result.module)
    apart = run(function("%x", *[line.replace('"k"', f'"{n}"') for n, line in enumerate(lines)], returned="%3"))
    assert apart.of("op")[0][1] != apart.of("op")[1][1]


@pytest.mark.parametrize("given", ["!quant.uniform<i8:f32, 0.01>", range_of(-1, 1)])
@pytest.mark.parametrize("wide_first", [False, True])
def test_what_a_loop_carries_holds_what_every_pass_gives(given: str, wide_first: bool) -> None:
    """A narrow range at first, even a given type, must not clip what is yielded, nor the other way round."""
    first, yielded = (range_of(-100, 100), given) if wide_first else (given, range_of(-100, 100))
    lines = [
        "%c = arith.constant 1 : index",
        region("%0", "op", "%x", A, first),
        f"%r = scf.for %i = %c to %c step %c iter_args(%s = %0) -> ({T}) {{",
        region("%y", "op", "%s", "f32", yielded),
        f"scf.yield %y : {T}",
        "}",
    ]
    result = run(function("%x", *lines, returned="%r"))
    wide = str(UniformType.for_range(-100.0, 100.0))
    assert [out for _, out in result.of("rescale")] == [wide]
    assert result.of("op")[1][0] == wide


def test_arms_of_one_given_type_need_no_rescale() -> None:
    """Its greatest value is rounded where it is compared: 127 times 0.1 is."""
    tenth = "!quant.uniform<i8:f32, 0.1>"
    arms = [region(name, "op", "%x", A, tenth) + f" scf.yield {name} : {T}" for name in ("%0", "%1")]
    text = f"%r = scf.if %c -> ({T}) {{ {arms[0]} }} else {{ {arms[1]} }}"
    result = run(function("%x", "%c = arith.constant true", text, region("%2", "op", "%r", "f32", A)))
    assert result.causes == []
    assert result.of("op")[2][0] == "!quant.uniform<i8:f32, 1.000000e-01>"


def test_the_uses_of_a_constant_are_apart() -> None:
    lines = [constant("%c", 1, 2, 3, -4), region("%0", "op", "%c", A, A), region("%1", "middle", "%c", "f32", A)]
    result = run(function("%x", *lines))
    assert result.of("op") == [[A, A]]
    assert result.of("middle")[0][0] != A
    assert result.causes == []


def test_a_symmetric_port_makes_its_class_symmetric() -> None:
    lines = [region("%0", "op", "%x", range_of(-1, 1), range_of(0, 1)), region("%1", "middle", "%0", "f32", A)]
    result = run(function("%x", *lines))
    assert result.of("op")[0][1] == result.of("middle")[0][0]
    assert covered(result.of("middle")[0][0])[0] == pytest.approx(-1, rel=0.02)


def test_ports_of_one_type_that_a_target_stores_differently_are_an_error() -> None:
    from qrt.quantization.targets.model import Target, TargetKernel, TargetPort

    kernel = TargetKernel("k", (TargetPort("x", "i8"),), (TargetPort("y", "i16"),), "same_scale")
    with pytest.raises(VerifyError, match=r"f\.mlir:2.*\n*.*needs different storage for them"):
        run(function("%x", region("%0", "k", "%x", range_of(0, 1))), target=Target("t", (kernel,)))


def test_a_type_of_narrower_bounds_needs_no_rescale() -> None:
    """The kernel takes the bounds, so that nothing is gained by the codes that the type leaves out."""
    narrow = "!quant.uniform<i8<-127:127>:f32, 5.000000e-01>"
    lines = [region("%0", "op", "%x", A, narrow), region("%1", "op", "%0", range_of(-1, 1), A)]
    result = run(function("%x", *lines))
    assert result.of("op") == [[A, narrow], [narrow, A]]
    assert result.causes == []


def test_a_zero_point_beside_the_middle_is_rescaled_for_a_symmetric_port() -> None:
    beside = "!quant.uniform<i8:f32, 5.000000e-01:3>"
    lines = [region("%0", "op", "%x", A, beside), region("%1", "middle", "%0", range_of(-1, 1), A)]
    result = run(function("%x", *lines))
    assert result.of("rescale") == [[beside, result.of("middle")[0][0]]]


def test_a_width_is_asked_for_along_a_whole_class() -> None:
    stats = f'%1 = "quant.stats"(%0) {{layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>}} : ({T}) -> {T}'
    lines = [region("%0", "any", "%x", A, "!quant.any<i12:f32>"), stats, region("%2", "join", "%1, %1, %1")]
    result = run(function("%x", *lines))
    assert {each.partition(":")[0] for each in result.of("join")[0]} == {"!quant.uniform<i12"}


def test_values_of_a_fixed_type_are_within_it_whatever_is_said_of_them() -> None:
    """A logistic of 8 bits reaches to 255/256, and observers say 1: a rescale would gain nothing."""
    lines = [region("%0", "fixed", "%x", A, range_of(0, 1)), region("%1", "op", "%0", range_of(0, 1), A)]
    result = run(function("%x", *lines))
    assert result.causes == []
    assert result.of("op") == [[str(FIXED), A]]
    lines = [region("%0", "op", "%x", A, A), region("%1", "wide", "%0", range_of(-1, 1), WIDE)]
    ((_, taken),) = run(function("%x", *lines)).of("rescale")
    assert float(taken.partition("f32, ")[2].rstrip(">").partition(":")[0]) < 1e-4  # the finer range stays


@pytest.mark.parametrize(("high", "is_clipped"), [(0.5, False), (0.503, False), (465.0, True)])
def test_values_that_the_type_of_another_port_clips_are_said(high: float, is_clipped: bool) -> None:
    """Hazard: values far beyond the type that an operand gives to all are clipped in silence. A step is rounding."""
    given = "!quant.uniform<i8:f32, 0.00390625:-1>"  # -0.496 to 0.5
    result = run(function("%x %y", region("%0", "join", "%x, %y", [given, range_of(0, high)])))
    assert [len(set(types)) for types in result.of("join")] == [1]
    said = [remark.message for remark in result.remarks if "clipped" in remark.message]
    assert len(said) == is_clipped
    assert not said or said[0].startswith(
        "join input 1 has values from 0 to 465, which are clipped to -0.496094 to 0.5"
    )
