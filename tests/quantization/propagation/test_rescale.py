"""Hazards: a second use that overwrites the rescale of the first; an annotation that a cause names and that changes
nothing; an edge through a loop, a branch or a call whose ends differ in silence.
"""

import re

import pytest

from qrt.errors import VerifyError
from qrt.quantization.propagation.propagate_quant import Settings
from tests.quantization.propagation.programs import (
    NONE,
    STRICT,
    WIDE,
    A,
    B,
    C,
    T,
    constant,
    function,
    range_of,
    region,
    run,
)

I1 = "%c = arith.constant true"


def test_uses_of_one_type_share_a_rescale() -> None:
    lines = [region("%0", "op", "%x", A, A)]
    lines += [region(f"%{n}", "op", "%0", spec, A) for n, spec in enumerate((B, C, B, A), 1)]
    result = run(function("%x", *lines))
    assert result.of("rescale") == [[A, C], [A, B]]
    first = next(each for each in result.regions if types_of(each) == [A, B])
    assert len(first.results[0].uses) == 2


def types_of(region: object) -> list[str]:
    from tests.quantization.propagation.programs import types

    return types(region)  # type: ignore[arg-type]


def test_a_cause_names_both_ends_and_the_annotation() -> None:
    lines = [region("%0", "op", "%x", A, range_of(-1, 1)), region("%1", "op", "%0", B, A)]
    lines[0] = region("%0", "op", "%x", A, A)
    (cause,) = run(function("%x", *lines)).causes
    assert cause == f"f.mlir:2 op output 0 is {A}, but f.mlir:3 op input 0 needs {B}: annotate f.mlir:2 as {B}"
    lines[0] = region("%0", "op", "%x", A, B)
    assert run(function("%x", *lines)).causes == []


def test_no_annotation_is_named_that_would_not_help() -> None:
    """16 bits are not 8; a fixed scale stays; a multiplier is out of its range; a result outranks its operands."""
    wide = [region("%0", "op", "%x", A, A), region("%1", "wide", "%0", "f32", WIDE)]
    (cause,) = run(function("%x", *wide)).causes
    assert re.fullmatch(r"f\.mlir:2 op output 0 is \S+ \S+, but f\.mlir:3 wide input 0 needs \S+ \S+>", cause)
    lines = [region("%0", "fixed", "%x", A), region("%1", "op", "%0", A, A)]
    (cause,) = run(function("%x", *lines)).causes
    assert cause.endswith("annotate f.mlir:3 as !quant.uniform<i8:f32, 3.906250e-03:-128>")
    weights = constant("%w", 1, 2, -127, 0)
    lines = [weights, region("%0", "least", "%x, %w", [A, "f32"], B), region("%1", "join", "%0", B, B)]
    (cause,) = run(function("%x", *lines)).causes
    assert "annotate" not in cause


def test_floats_at_the_border_of_a_program_need_no_rescale() -> None:
    """A float argument is quantized for each use by itself; a cast of the program is taken as it is."""
    lines = [
        region("%0", "op", "%x", A, A),
        region("%1", "op", "%x", B, A),
        f"%q = quant.qcast %1 : {T} to tensor<4x{A}>",
        region("%2", "float", "%x"),
    ]
    assert run(function("%x", *lines)).causes == []
    lines[2] = f"%q = quant.qcast %1 : {T} to tensor<4x{B}>"
    result = run(function("%x", *lines))
    assert result.of("rescale") == [[A, B]]


def test_an_argument_of_a_quantized_type() -> None:
    lines = [f"%0 = quant.dcast %q : tensor<4x{A}> to {T}", region("%1", "pool", "%0"), region("%2", "float", "%0")]
    text = function("%x", *lines).replace(f"%x: {T}", f"%q: tensor<4x{A}>")
    result = run(text)
    assert result.of("pool") == [[A, A]]
    assert result.causes == []


@pytest.mark.parametrize("inner", ["f32", B])
def test_what_a_loop_carries_has_one_type(inner: str) -> None:
    lines = [
        "%l = arith.constant 0 : index",
        "%h = arith.constant 4 : index",
        "%s = arith.constant 1 : index",
        region("%0", "op", "%x", A, A),
        f"%1 = scf.for %i = %l to %h step %s iter_args(%v = %0) -> ({T}) {{",
        region("%2", "pool", "%v"),
        region("%3", "op", "%2", A, inner if inner != "f32" else range_of(-1, 1)),
        f"scf.yield %3 : {T}",
        "}",
        region("%4", "pool", "%1"),
    ]
    result = run(function("%x", *lines))
    assert result.of("pool") == [[A, A], [A, A]]
    assert result.of("rescale") == ([[B, A]] if inner == B else [])
    if inner == B:
        (rescale,) = (each for each in result.regions if "quant.cause" in each.attributes)
        assert rescale.parent_operation is not None
        assert rescale.parent_operation.name == "scf.for"


def test_branches_give_one_type() -> None:
    lines = [
        I1,
        region("%0", "op", "%x", A, A),
        f"%1 = scf.if %c -> ({T}) {{",
        region("%2", "op", "%x", A, B),
        f"scf.yield %2 : {T}",
        "} else {",
        f"scf.yield %0 : {T}",
        "}",
        region("%3", "pool", "%1"),
    ]
    result = run(function("%x", *lines))
    assert result.of("pool")[0] in ([A, A], [B, B])
    assert len(result.of("rescale")) == 1


def test_a_loop_that_begins_with_a_float_takes_the_type_of_what_it_yields() -> None:
    lines = [
        I1,
        constant("%z", 0, 0, 0, 0),
        f"%1 = scf.while (%v = %z) : ({T}) -> {T} {{",
        f"scf.condition(%c) %v : {T}",
        "} do {",
        f"^bb0(%u: {T}):",
        region("%2", "pool", "%u"),
        region("%3", "op", "%2", "f32", range_of(-1, 1)),
        f"scf.yield %3 : {T}",
        "}",
    ]
    result = run(function("%x", *lines))
    ((_, out),) = result.of("op")
    assert result.of("pool") == [[out, out]]


def test_blocks_that_branch() -> None:
    lines = [
        I1,
        region("%0", "op", "%x", A, A),
        region("%1", "op", "%x", A, B),
        f"cf.cond_br %c, ^bb1(%0 : {T}), ^bb1(%1 : {T})",
        f"^bb1(%v: {T}):",
        region("%2", "pool", "%v"),
    ]
    result = run(function("%x", *lines))
    assert len(result.of("rescale")) == 1
    assert result.of("pool")[0] in ([A, A], [B, B])


def test_statistics_between_regions_are_moved_and_references_removed() -> None:
    lines = [
        region("%0", "op", "%x", A),
        f'%1 = "quant.stats"(%0) {{layerStats = dense<[-1.0, 1.0]> : tensor<2xf32>}} : ({T}) -> {T}',
        f'%2 = "quant.stats_ref"(%1) {{statsKey = "k"}} : ({T}) -> {T}',
        region("%3", "op", "%2", "f32", B),
    ]
    result = run(function("%x", *lines))
    assert result.of("op")[0][1] == result.of("op")[1][0]
    assert "stats" not in str(result.module)
    assert result.causes == []


def test_a_program_without_regions() -> None:
    assert run(function("%x", returned="%x"), Settings()).outcome.bound == 0


def test_a_float_does_not_reach_a_part_of_a_kernel() -> None:
    """The kernel is a whole: its other port is quantized."""
    with pytest.raises(VerifyError, match="no type can be chosen for undecided input 0"):
        run(function("%x", region("%0", "float", "%x"), region("%1", "undecided", "%0", "f32", A)), STRICT)


def test_no_annotation_is_named_that_has_fewer_bits_than_are_asked_for() -> None:
    """The wide values would leave the class, and nothing is known of them but what the others say."""
    lines = [
        region("%0", "any", "%x", A, "!quant.any<i16:f32>"),
        region("%1", "join", "%0, %0", "f32", range_of(-2, 1)),
        region("%2", "join", "%1", range_of(-50, 2), range_of(-2, 50)),
    ]
    (cause,) = run(function("%x", *lines)).causes
    assert "join output 0 is !quant.uniform<i16" in cause
    assert "annotate f.mlir:3" not in cause


def test_no_annotation_is_named_that_others_follow() -> None:
    """The branch takes the type of `%0` while that has a range. If `%0` had the type of its first use, the branch would
    join that use, whose type would become another."""
    branch = f"%i = scf.if %c -> {T} {{"
    inner = region("%2", "op", "%0", "f32", range_of(0, 1.5))
    lines = [I1, region("%0", "op", "%x", A, "{0}"), region("%1", "op", "%0", range_of(-1.5, 0), A), branch, inner]
    lines += [f"scf.yield %2 : {T} }} else {{ scf.yield %0 : {T} }}", region("%3", "op", "%i", "f32", A)]
    text = function("%x", *lines)
    before = run(text.replace("{0}", range_of(-0.5, 0)))
    (edge,) = [each for each in before.causes if "f.mlir:4 op input 0" in each]
    assert "annotate f.mlir:4" in edge
    taken = before.of("op")[1][0]
    after = run(text.replace("{0}", taken))
    assert after.of("op")[1][0] != taken
    assert any("f.mlir:4 op input 0" in each for each in after.causes)


def test_no_annotation_is_named_that_narrows_what_is_handed_on() -> None:
    """The range of the branch is that of its definitions. If `%0` had the type of its first use, the branch would be
    narrow enough to join that use, whose type would become another."""
    given = "!quant.uniform<i8:f32, 0.0172:-128>"
    inner = region("%2", "op", "%0", "f32", range_of(-0.55, 0))
    lines = [I1, region("%0", "op", "%x", A, "{0}"), region("%1", "op", "%0", range_of(-0.5, 0), A)]
    lines += [f"%i = scf.if %c -> {T} {{", inner, f"scf.yield %2 : {T} }} else {{ scf.yield %0 : {T} }}"]
    text = function("%x", *lines, region("%3", "op", "%i", "f32", A))
    before = run(text.replace("{0}", given))
    (edge,) = [each for each in before.causes if "f.mlir:4 op input 0" in each]
    assert "annotate f.mlir:3" not in edge
    taken = before.of("op")[1][0]
    after = run(text.replace("{0}", taken))
    assert any("f.mlir:4 op input 0" in each for each in after.causes)


def test_what_no_port_shares_is_handed_on_in_the_widest_type_of_its_uses() -> None:
    """No definition has a type for the range of the branch, and no use has a range near to it. Hazard: the results
    leave as floats, and change their types in silence."""
    low, high = "!quant.uniform<i8:f32, 0.001:127>", "!quant.uniform<i8:f32, 0.001:-128>"
    lines = [I1, region("%0", "op", "%x", A, low), region("%1", "op", "%x", A, high), f"%i = scf.if %c -> {T} {{"]
    lines += [f"scf.yield %0 : {T} }} else {{ scf.yield %1 : {T} }}"]
    uses = [region(f"%{n}", "op", "%i", range_of(-size, size), A) for n, size in ((2, 20), (3, 90), (4, 4))]
    result = run(function("%x", *lines, *uses))
    first, widest, last = (each[0] for each in result.of("op")[2:])
    made = [each[1] for each in result.of("op")[:2]]
    assert sorted(result.of("rescale")) == sorted([*([each, widest] for each in made), [widest, first], [widest, last]])
    assert sum("a value that is passed on needs" in each for each in result.causes) == 2


@pytest.mark.parametrize("argument", ["float", "quantized"])
def test_an_annotated_argument_is_rescaled_where_the_constraint_wants_another_type(argument: str) -> None:
    """A float is quantized as it is annotated, and then rescaled, as a quantized argument of this type is."""
    lines = [region("%0", "pool", "%x", A, B), region("%1", "op", "%0", B, B)]
    text = function("%x", *lines)
    if argument == "quantized":
        lines[:1] = [f"%0 = quant.dcast %q : tensor<4x{A}> to {T}", region("%3", "pool", "%0", "f32", B)]
        lines[-1] = region("%1", "op", "%3", B, B)
        text = function("%x", *lines).replace(f"%x: {T}", f"%q: tensor<4x{A}>")
    result = run(text)
    assert result.of("pool") == [[B, B]]
    assert result.of("rescale") == [[A, B]]
    assert len(result.causes) == 1


def test_uses_that_are_annotated_alike_share_a_rescale() -> None:
    lines = [region("%0", "pool", "%x", A, B), region("%1", "pool", "%x", A, B), region("%2", "pool", "%x", C, B)]
    result = run(function("%x", *lines))
    assert sorted(result.of("rescale")) == sorted([[A, B], [C, B]])


def test_no_annotation_is_named_at_a_use_whose_range_is_part_of_the_value() -> None:
    """The range of what the loop carries includes that of its use. If the use had the type of the value, the value's
    range would be narrower, and its type another."""
    step = "!quant.uniform<i8:f32, 0.03125:127>"
    lines = [
        "%l = arith.constant 0 : index",
        "%h = arith.constant 4 : index",
        "%s = arith.constant 1 : index",
        region("%0", "pool", "%x", range_of(-1, 1)),
        f"%1 = scf.for %i = %l to %h step %s iter_args(%v = %0) -> ({T}) {{",
        region("%2", "op", "%v", "{0}", step),
        f"scf.yield %2 : {T}",
        "}",
    ]
    text = function("%x", *lines)
    before = run(text.replace("{0}", range_of(0, 0.4)))
    (edge,) = [cause for cause in before.causes if "needs" in cause and "f.mlir:7 op input 0 needs" in cause]
    assert "annotate" not in edge
    carried = before.of("pool")[0][1]
    after = run(text.replace("{0}", carried))
    assert any("f.mlir:7 op input 0 needs" in cause for cause in after.causes)


def test_a_cause_names_the_annotation_that_the_constraint_overrules() -> None:
    """The kernel needs one type for both ports, and the result has precedence."""
    text = function("%x", region("%0", "pool", "%x", "{0}", B))
    (cause,) = run(text.replace("{0}", A)).causes
    assert cause == f"its annotation is {A}, but f.mlir:2 pool input 0 needs {B}: annotate f.mlir:2 as {B}"
    assert run(text.replace("{0}", B)).causes == []


def test_a_value_that_is_passed_on_to_floats_is_a_float() -> None:
    """The branches yield values of two types, of which neither covers the other. Hazard: the use takes a quantized
    value as a float, without a rescale."""
    negative = "!quant.uniform<i8:f32, 2.500000e-01:127>"
    lines = [I1, region("%0", "op", "%x", A, range_of(-1, 1)), f"%s = quant.dcast %y : tensor<4x{negative}> to {T}"]
    lines += [f"%1 = scf.if %c -> {T} {{", f"scf.yield %s : {T} }} else {{ scf.yield %0 : {T} }}"]
    text = function("%x %y", *lines, region("%2", "op", "%1", NONE, NONE))
    result = run(text.replace(f"%y: {T}", f"%y: tensor<4x{negative}>"))
    (_, narrow), floats = result.of("op")
    assert floats == [NONE, NONE]
    assert [narrow, NONE] in result.of("rescale")
