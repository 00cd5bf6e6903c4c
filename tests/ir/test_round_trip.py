"""Text to IR to text. Hazards: parts that are read and not printed, numbering that changes the graph, names kept."""

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import ir
from tests.ir.programs import CAST, PROGRAMS, UNREGISTERED


def forms(text, **options):
    module = ir.parse(text, **options)
    module.verify()
    return module, str(module), module.print(generic=True), module.print(locations=True)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_form_reads_back_as_the_same_program(name):
    module, *printed = forms(PROGRAMS[name])
    for text in printed:
        again = ir.parse(text)
        assert again == module
        assert [str(again), again.print(generic=True)] == printed[:2]


@pytest.mark.parametrize("name", UNREGISTERED)
def test_unregistered_ops_print_back_unchanged(name):
    module, *printed = forms(UNREGISTERED[name], allow_unregistered=True)
    for text in printed:
        again = ir.parse(text, allow_unregistered=True)
        assert again == module
        assert [str(again), again.print(generic=True)] == printed[:2]


def test_the_custom_form_is_upstreams():
    module, custom, generic, _ = forms(CAST)
    assert custom == (
        "module {\n"
        "  func.func @f(%arg0: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>> {\n"
        "    %0 = quant.qcast %arg0 : tensor<4xf32> to tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>\n"
        "    return %0 : tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>\n"
        "  }\n"
        "}\n"
    )
    assert '"quant.qcast"(%arg0) : (tensor<4xf32>) ->' in generic
    assert module.function("f").sym_name == "f"


def test_locations_said_are_said_again_only_when_asked():
    module, custom, _, located = forms(PROGRAMS["locations"])
    assert "loc(" not in custom
    assert 'loc(callsite("f"("g") at "a.mlir":1:2))' in located
    assert 'loc(fused<"m">["a", "a.mlir":1:2, unknown])' in located
    assert module.function().loc is not None


def test_modules_pickle_as_text():
    module = ir.parse(UNREGISTERED["attributes of every kind"], allow_unregistered=True)
    assert pickle.loads(pickle.dumps(module)) == module


def test_equality_sees_every_part():
    text = """func.func @f(%x: i32, %y: i32) -> i32 { %0 = arith.constant 1 : i32  return %0 : i32 }"""
    module = ir.parse(text)
    for before, after in [("1 : i32 ", "2 : i32 "), ("%0 : i32 }", "%x : i32 }"), ("@f", "@g"), ("%y: i32", "%y: i8")]:
        assert before in text
        assert ir.parse(text.replace(before, after)) != module
    assert ir.parse(text.replace("%0", "%zero")) == module
    assert ir.parse(text.replace("return %0", "return %x")) != ir.parse(text.replace("return %0", "return %y"))


# -- drawn programs ----------------------------------------------------------------------------------------------------

TYPES = ["i8", "f32", "tensor<?x2xf32>", "tensor<2x!quant.uniform<i8:f32:0, {0.5,1.0:3}>>", "(i32) -> ()", "!a.t<x>"]
ATTRIBUTES = ["1 : i8", '"s"', "[1, 2.5]", "dense<[1, 2]> : tensor<2xi8>", "{k}", "array<i8: 1>", "@s", "tensor<2xi8>"]


@st.composite
def programs(draw, depth=2, outer=()):
    """Lines of unregistered ops in random order of use, with nested regions."""
    lines = []
    values = list(outer)
    for n in range(draw(st.integers(1, 4))):
        operands = draw(st.lists(st.sampled_from(values), max_size=3)) if values else []
        results = draw(st.lists(st.sampled_from(TYPES), max_size=2))
        name = f"%v{depth}_{n}_{draw(st.integers(0, 10**6))}"
        names = [name if len(results) == 1 else f"{name}#{i}" for i in range(len(results))]
        head = f"{name}:{len(results)} = " if results else ""
        region = ""
        if depth and draw(st.booleans()):
            region = " ({\n" + "\n".join(draw(programs(depth - 1, tuple(values)))) + "\n})"
        attributes = ", ".join(
            f"a{i} = {a}" for i, a in enumerate(draw(st.lists(st.sampled_from(ATTRIBUTES), max_size=2)))
        )
        signature = f"({', '.join(t for _, t in operands)}) -> ({', '.join(results)})"
        lines.append(f'{head}"a.b"({", ".join(v for v, _ in operands)}){region} {{{attributes}}} : {signature}')
        values += zip(names, results, strict=True)
    return lines


@given(programs())
def test_drawn_programs_read_back(lines):
    module = ir.parse("\n".join(lines), allow_unregistered=True)
    module.verify()
    for text in (str(module), module.print(generic=True)):
        again = ir.parse(text, allow_unregistered=True)
        assert again == module
        assert str(again) == str(module)
