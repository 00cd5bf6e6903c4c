"""Traits: what follows from one, effects through regions, and what passes make of them."""

import pytest

from qrt import ir
from qrt.errors import VerifyError
from qrt.ir import run_passes
from qrt.ir.core import registry, traits
from qrt.ir.core.define import Definition
from qrt.ir.core.registry import DEFINITIONS
from qrt.types import parse_type

ALLOC = Definition("test.alloc", results=("result: memref",), traits={traits.MEM_ALLOC})
LOAD = Definition("test.load", operands=("memref: memref",), results=("result",), traits={traits.MEM_READ})
STORE = Definition("test.store", operands=("memref: memref",), traits={traits.MEM_WRITE})
UNKNOWN = Definition("test.unknown", results=("result",))
DIVIDE = Definition(
    "test.divide", operands=("lhs: i32", "rhs: i32"), results=("result: i32",), traits={traits.NO_MEMORY_EFFECT}
)
LOOP = Definition(
    "test.loop",
    results=("results*",),
    regions=("body: 1",),
    traits={traits.RECURSIVE_MEMORY_EFFECTS, traits.RECURSIVELY_SPECULATABLE, traits.NO_TERMINATOR},
)
BUFFER_OR_TENSOR = Definition(
    "test.fill",
    operands=("out: shaped",),
    results=("results*",),
    effects=lambda operation: () if operation.results else (traits.MEM_WRITE,),
)
SAME = Definition(
    "test.same",
    operands=("a", "b"),
    results=("result",),
    traits={traits.PURE, traits.SAME_OPERANDS_AND_RESULT_TYPE},
    format="operands attr-dict `:` type($result)",
)


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    for definition in (ALLOC, LOAD, STORE, UNKNOWN, DIVIDE, LOOP, BUFFER_OR_TENSOR, SAME):
        monkeypatch.setitem(DEFINITIONS, definition.name, definition)


def body(text):
    header = "func.func @f(%m: memref<4xf32>, %i: i32, %t: tensor<4xf32>)"
    module = ir.parse(f"{header} {{\n{text}\nreturn\n}}")
    module.verify()
    return module, module.functions[0].regions[0].blocks[0].operations[:-1]


def test_a_composite_is_all_it_implies():
    assert traits.expand([traits.PURE]) == (traits.PURE, traits.ALWAYS_SPECULATABLE, traits.NO_MEMORY_EFFECT)
    assert {traits.PURE, traits.NO_MEMORY_EFFECT} <= registry.definition("quant.qcast").traits


LOAD_TEXT = '%0 = "test.load"(%m) : (memref<4xf32>) -> f32'
STORE_TEXT = '"test.store"(%m) : (memref<4xf32>) -> ()'
ALLOC_TEXT = '%0 = "test.alloc"() : () -> memref<4xf32>'
DIVIDE_TEXT = '%0 = "test.divide"(%i, %i) : (i32, i32) -> i32'
ADD_TEXT = "%0 = arith.addi %i, %i : i32"


def loop(text):
    return f'"test.loop"() ({{\n{text}\n}}) : () -> ()'


@pytest.mark.parametrize(
    ("text", "effects", "dead", "speculatable"),
    [
        (LOAD_TEXT, {traits.MEM_READ}, True, False),
        (STORE_TEXT, {traits.MEM_WRITE}, False, False),
        (ALLOC_TEXT, {traits.MEM_ALLOC}, True, False),
        (DIVIDE_TEXT, set(), True, False),
        (ADD_TEXT, set(), True, True),
        ('%0 = "test.unknown"() : () -> f32', None, False, False),
        (loop(ADD_TEXT), set(), True, True),
        (loop(DIVIDE_TEXT), set(), True, False),
        (loop(LOAD_TEXT), {traits.MEM_READ}, True, False),
        (loop(loop(STORE_TEXT)), {traits.MEM_WRITE}, False, False),
        (loop('%0 = "test.unknown"() : () -> f32'), None, False, False),
        ('%0 = "test.fill"(%t) : (tensor<4xf32>) -> tensor<4xf32>', set(), True, False),
        ('"test.fill"(%m) : (memref<4xf32>) -> ()', {traits.MEM_WRITE}, False, False),
    ],
)
def test_effects(text, effects, dead, speculatable):
    """An effect in a nested region must not be lost, and what is not known must count as any effect."""
    module, (operation,) = body(text)
    assert traits.memory_effects(operation) == effects
    assert traits.has_no_memory_effect(operation) == (effects == set())
    assert traits.reads(operation) == (effects is None or traits.MEM_READ in effects)
    assert traits.writes(operation) == (effects is None or traits.MEM_WRITE in effects)
    assert traits.would_be_dead(operation) == dead
    assert traits.is_speculatable(operation) == speculatable
    run_passes(module, "dce")
    assert (len(module.functions[0].regions[0].blocks[0].operations) == 1) == dead


def test_a_terminator_without_effects_stays():
    module, _ = body(ADD_TEXT)
    run_passes(module, "dce,cse,canonicalize")
    (last,) = module.functions[0].regions[0].blocks[0].operations
    assert last.has_trait(traits.PURE)
    assert not traits.would_be_dead(last)


def test_only_what_has_no_effect_is_merged():
    text = f"{LOAD_TEXT}\n{LOAD_TEXT.replace('%0', '%1')}\n{DIVIDE_TEXT.replace('%0', '%2')}\n"
    text += f"{DIVIDE_TEXT.replace('%0', '%3')}\n"
    text += '"qrt.sink"(%0, %1, %2, %3) : (f32, f32, i32, i32) -> ()'
    header = "func.func @f(%m: memref<4xf32>, %i: i32)"
    module = ir.parse(f"{header} {{\n{text}\nreturn\n}}", allow_unregistered=True)
    run_passes(module, "cse")
    names = [operation.name for operation in module.functions[0].regions[0].blocks[0]]
    assert names == ["test.load", "test.load", "test.divide", "qrt.sink", "func.return"]


def test_one_type_serves_parser_and_verifier():
    module, (operation,) = body("%0 = test.same %i, %i : i32")
    assert [value.type for value in operation.operands] == [parse_type("i32")] * 2
    assert str(module) == str(ir.parse(str(module)))
    with pytest.raises(VerifyError, match="requires the same type for all operands and results"):
        body('%0 = "test.same"(%i, %m) : (i32, memref<4xf32>) -> i32')


@pytest.mark.parametrize(
    ("trait", "message"),
    [
        (traits.SAME_TYPE_OPERANDS, "requires all operands to have the same type"),
        (traits.SAME_OPERANDS_AND_RESULT_SHAPE, "requires the same shape for all operands and results"),
        (traits.SAME_OPERANDS_AND_RESULT_ELEMENT_TYPE, "requires the same element type for all operands and results"),
    ],
)
def test_traits_verify(monkeypatch, trait, message):
    definition = Definition("test.op", operands=("operands*",), results=("result",), traits={trait})
    monkeypatch.setitem(DEFINITIONS, "test.op", definition)
    body('%0 = "test.op"(%i, %i) : (i32, i32) -> i32')
    with pytest.raises(VerifyError, match=message):
        body('%0 = "test.op"(%t, %i) : (tensor<4xf32>, i32) -> f32')


def test_casts_name_their_types():
    """As QuantOps.td: getFloatType, getQuantizedType, getIntegerType."""
    quantized = "!quant.uniform<i8:f32, 5.000000e-01>"
    _, (qcast, scast, dcast) = body(
        f"%0 = quant.qcast %t : tensor<4xf32> to tensor<4x{quantized}>\n"
        f"%1 = quant.scast %0 : tensor<4x{quantized}> to tensor<4xi8>\n"
        f"%2 = quant.dcast %0 : tensor<4x{quantized}> to tensor<4xf32>"
    )
    expected = parse_type("!quant.uniform<i8:f32, 0.5>")
    assert [operation.quantized_type for operation in (qcast, scast, dcast)] == [expected] * 3
    assert (qcast.float_type, dcast.float_type, scast.integer_type) == (*[parse_type("f32")] * 2, parse_type("i8"))


@pytest.mark.parametrize("accessor", ["float_type", "quantized_type"])
def test_an_accessor_of_a_cast_that_is_none_says_so(accessor):
    """What is not verified may have any types: None would be an error somewhere else."""
    module = ir.parse('func.func @f(%x: i8) { %0 = "quant.qcast"(%x) : (i8) -> i8  return }')
    cast = module.function("f").regions[0].blocks[0].first
    with pytest.raises(VerifyError, match="must have an operand or a result with elements of"):
        getattr(cast, accessor)
