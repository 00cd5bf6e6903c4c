"""Programs made from Python. Hazards: an operation that the text of the same words would not be; a wrong operand that
is found later, or left in the program; a type that does not follow and is guessed."""

import re

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir.builder import BuilderObserver
from qrt.ir.core import registry
from qrt.types import parse_type

A, W = "tensor<4x8x!quant.uniform<i8:f32, 0.5:3>>", "tensor<8x2x!quant.uniform<i8:f32:1, {0.25, 0.5}>>"
BIAS = "tensor<2x!quant.uniform<i32:f32:0, {0.125, 0.25}>>"
OUT = "tensor<4x2x!quant.uniform<i8:f32, 2.0:-1>>"


@pytest.fixture
def module() -> ir.Module:
    return ir.Module()


@pytest.fixture
def b(module: ir.Module) -> ir.Builder:
    return ir.Builder(module)


def as_parsed(module: ir.Module, text: str) -> None:
    module.verify()
    assert str(module) == str(ir.parse(text))
    assert ir.parse(str(module)) == module


def test_kernels(module: ir.Module, b: ir.Builder) -> None:
    with b.function("main", [A, W, BIAS], names=["x", "w", "bias"]) as (x, w, bias):
        y = b.qrt.matmul(x, w, bias, type=OUT, requant="float32")
        b.func.return_(b.qrt.clamp(y, min=0), b.qrt.matmul(x, w=w))
    as_parsed(
        module,
        f"""func.func @main(%x: {A} {{qrt.name = "x"}}, %w: {W} {{qrt.name = "w"}}, %bias: {BIAS} {{qrt.name = "bias"}})
            -> ({OUT}, tensor<4x2x!quant.uniform<i32:f32:1, {{0.125, 0.25}}>>) {{
          %0 = qrt.matmul %x, %w, %bias {{requant = "float32"}} : ({A}, {W}, {BIAS}) -> {OUT}
          %1 = qrt.clamp %0 {{min = 0 : i64}} : ({OUT}) -> {OUT}
          %2 = qrt.matmul %x, %w : ({A}, {W}) -> tensor<4x2x!quant.uniform<i32:f32:1, {{0.125, 0.25}}>>
          return %1, %2 : {OUT}, tensor<4x2x!quant.uniform<i32:f32:1, {{0.125, 0.25}}>>
        }}""",
    )
    x = np.random.default_rng(0).integers(-128, 128, (4, 8), np.int8)
    w = np.random.default_rng(1).integers(-128, 128, (8, 2), np.int8)
    y, exact = qrt.compile(module)(x, w, np.int32([5, -5]))
    q, r = (qrt.QuantTensor(s, parse_type(t, kind=qrt.TensorType).element) for s, t in ((x, A), (w, W)))  # type: ignore[arg-type]
    assert np.array_equal(exact.storage, (q @ r).storage)


def test_types_follow_as_in_the_custom_forms(module: ir.Module, b: ir.Builder) -> None:
    with b.function("f", ["f32", "f32", "tensor<?x4xf32>", "index", "memref<4xi8>"]) as (x, y, t, i, m):
        b.arith.cmpf(x, y, predicate="olt", fastmath="nnan,ninf")
        b.math.absf(x)
        b.arith.addf(x, y)
        b.tensor.extract(t, [i, i])
        b.tensor.dim(t, i)
        b.memref.load(m, [i])
        b.memref.store(b.constant(-1, "i8"), m, [i])
        b.arith.extf(x, type="f64")
        b.tensor.empty([i], type="tensor<?x4xf32>")
        b.arith.select(b.constant(True, "i1"), t, t)
        b.func.return_()
    as_parsed(
        module,
        """func.func @f(%x: f32, %y: f32, %t: tensor<?x4xf32>, %i: index, %m: memref<4xi8>) {
          %0 = arith.cmpf olt, %x, %y fastmath<nnan,ninf> : f32
          %1 = math.absf %x : f32
          %2 = arith.addf %x, %y : f32
          %3 = tensor.extract %t[%i, %i] : tensor<?x4xf32>
          %4 = tensor.dim %t, %i : tensor<?x4xf32>
          %5 = memref.load %m[%i] : memref<4xi8>
          %c = arith.constant -1 : i8
          memref.store %c, %m[%i] : memref<4xi8>
          %6 = arith.extf %x : f32 to f64
          %7 = tensor.empty(%i) : tensor<?x4xf32>
          %8 = arith.constant true
          %9 = arith.select %8, %t, %t : tensor<?x4xf32>
          return
        }""",
    )


def test_regions_and_places(module: ir.Module, b: ir.Builder) -> None:
    with b.function("f", ["i1", "i32"]) as (condition, x):
        then, otherwise = ir.Block(), ir.Block()
        y = b.scf.if_(condition, type="i32", regions=[ir.Region([then]), ir.Region([otherwise])])
        inside = ir.Builder(then)
        inside.scf.yield_(inside.arith.addi(x, x))
        ir.Builder(otherwise).scf.yield_(x)
        last = b.func.return_(y)
        ir.Builder(last).constant(1, "i32")
        ir.Builder.after(x).constant(2, "i32")
        ir.Builder.after(y).constant(3, "i32")
    as_parsed(
        module,
        """func.func @f(%c: i1, %x: i32) -> i32 {
          %0 = arith.constant 2 : i32
          %1 = scf.if %c -> (i32) { %4 = arith.addi %x, %x : i32  scf.yield %4 : i32 } else { scf.yield %x : i32 }
          %2 = arith.constant 3 : i32
          %3 = arith.constant 1 : i32
          return %1 : i32
        }""",
    )


def test_a_function_calls_itself_and_a_later_one(module: ir.Module, b: ir.Builder) -> None:
    with b.function("f", ["i32"]) as (x,):
        y = b.func.call(x, callee="f", type="i32")
        b.func.return_(b.func.call(y, callee="g", type="i32"))
    with b.function("g", ["i32"]) as (x,):
        b.func.return_(b.func.call(x, callee="f", type="i32"))
    as_parsed(
        module,
        """func.func @f(%x: i32) -> i32 {
          %0 = call @f(%x) : (i32) -> i32
          %1 = call @g(%0) : (i32) -> i32
          return %1 : i32
        }
        func.func @g(%x: i32) -> i32 {
          %0 = call @f(%x) : (i32) -> i32
          return %0 : i32
        }""",
    )


def test_a_call_of_a_whole_function_is_verified_at_once(module: ir.Module, b: ir.Builder) -> None:
    with b.function("f", ["i32"]) as (x,):
        b.func.return_(x)
    with b.function("g", ["i32"]) as (x,):
        for types in ([], ["i8"]):
            with pytest.raises(
                qrt.errors.QuantTypeError, match=r"'func\.call' op (incorrect number of results|result type)"
            ):
                b.func.call(x, callee="f", types=types)
        b.func.return_()
    module.verify()


def test_a_block_may_be_filled_before_it_has_a_place(module: ir.Module, b: ir.Builder) -> None:
    """What an op asks of those around it is not known yet; what it says itself is."""
    body = ir.Block(["f32"])
    inside = ir.Builder(body)
    index = inside.linalg.index(dim=0)
    inside.linalg.yield_(inside.arith.sitofp(inside.arith.index_cast(index, type="i32"), type="f32"))
    with pytest.raises(qrt.errors.QuantTypeError, match=r"operand #0 .'lhs'. must be floating-point-like"):
        inside.arith.addf(index, index)
    with b.function("f", ["tensor<4xf32>"]) as (x,):
        y = b.linalg.generic(
            [], [x],
            type=x.type,
            indexing_maps="[affine_map<(d0) -> (d0)>]",
            iterator_types="[#linalg.iterator_type<parallel>]",
            regions=[ir.Region([body])],
        )  # fmt: skip
        b.func.return_(y)
    module.verify()
    assert np.array_equal(qrt.compile(module)(np.zeros(4, np.float32)), np.float32([0, 1, 2, 3]))


def test_a_block_takes_types_alone() -> None:
    """Hazard: a text that stays one prints like a type, and equals none."""
    assert [argument.type for argument in ir.Block(["f32"]).arguments] == [parse_type("f32", kind=qrt.types.Type)]
    with pytest.raises(
        qrt.errors.QuantTypeError, match="Block: an item of 'types' must be a Type or its MLIR text, got 3"
    ):
        ir.Block([3])  # type: ignore[list-item]


def test_attributes_of_any_name(module: ir.Module, b: ir.Builder) -> None:
    """`type` is an attribute of some ops; other names are kept, as text keeps them."""
    b.create(
        "memref.global",
        sym_name="g",
        attributes={"type": ir.TypeAttr(parse_type("memref<2xi8>", kind=qrt.types.Type)), "note": "kept"},
    )
    as_parsed(module, 'memref.global @g : memref<2xi8> {note = "kept"}')
    with pytest.raises(
        qrt.errors.QuantTypeError,
        match=r"memref\.global: attribute 'sym_name' must be given once, got it by name and in 'attributes'",
    ):
        b.memref.global_(sym_name="g", attributes={"sym_name": "h"})


CONSTANTS = [
    (1, "i8", "1 : i8"), (-1, "index", "-1 : index"), (True, "i1", "true"), (0.1, "f16", "9.997550e-02 : f16"),
    (np.float32(2), "bf16", "2.000000e+00 : bf16"), ([1, 2], "tensor<2xi32>", "dense<[1, 2]> : tensor<2xi32>"),
    (3, "vector<4xi8>", "dense<3> : vector<4xi8>"),
    ([[1.5]], "tensor<1x1xf32>", "dense<1.500000e+00> : tensor<1x1xf32>"),
    ([0.5, -2], "tensor<2xbf16>", "dense<[5.000000e-01, -2.000000e+00]> : tensor<2xbf16>"),
    (np.zeros((0, 2), np.int8), "tensor<0x2xi4>", "dense<> : tensor<0x2xi4>"),
    ([15, 7, -8], "tensor<3xi4>", "dense<[-1, 7, -8]> : tensor<3xi4>"),
    ([2**33 - 1, 1], "tensor<2xi33>", "dense<[-1, 1]> : tensor<2xi33>"),
    ([True, False], "tensor<2xi1>", "dense<[true, false]> : tensor<2xi1>"),
    ([15], "tensor<1xui4>", "dense<15> : tensor<1xui4>"),
    (ir.IntegerAttr(7, parse_type("i8")), "i8", "7 : i8"),
]  # fmt: skip


@pytest.mark.parametrize(("value", "type", "text"), CONSTANTS)
def test_constants(value: object, type: str, text: str, module: ir.Module, b: ir.Builder) -> None:
    b.constant(value, type)  # type: ignore[arg-type]
    as_parsed(module, f"%0 = arith.constant {text}")


def test_a_quantized_constant_is_its_storage(module: ir.Module, b: ir.Builder) -> None:
    t = "tensor<2x!quant.uniform<u8:f32, 0.5>>"
    b.constant([0, 255], t)
    as_parsed(module, f"%0 = arith.constant dense<[0, -1]> : tensor<2xi8>\n%1 = quant.scast %0 : tensor<2xi8> to {t}")


def test_a_quantized_constant_of_an_attribute(module: ir.Module, b: ir.Builder) -> None:
    t = "tensor<2x!quant.uniform<i4:f32, 0.5>>"
    stored = ir.DenseElementsAttr(np.array([1, -8], np.int8), parse_type("tensor<2xi4>", kind=qrt.TensorType))
    b.constant(stored, t)
    as_parsed(module, f"%0 = arith.constant dense<[1, -8]> : tensor<2xi4>\n%1 = quant.scast %0 : tensor<2xi4> to {t}")


WRONG = {
    "an op that is none": (
        lambda b, x: b.create("arith.add", x, x),
        "Builder.create: qrt has no op 'arith.add': did you mean 'arith.addi'?",
    ),
    "no operand": (lambda b, x: b.arith.addi(x), "arith.addi: operand 'rhs' is missing"),
    "a number for an operand": (
        lambda b, x: b.arith.addi(x, 1),
        "arith.addi: operand 'rhs' must be a Value, got 1: b.constant(value, type) creates one",
    ),
    "an array for an operand": (
        lambda b, x: b.arith.addi(x, np.ones(2)),
        "arith.addi: operand 'rhs' must be a Value, got an ndarray of shape (2,)",
    ),
    "too many operands": (
        lambda b, x: b.arith.addi(x, x, x),
        "arith.addi: expected at most 2 operands ('lhs', 'rhs'), got 3",
    ),
    "an operand twice": (
        lambda b, x: b.arith.addi(x, x, lhs=x),
        "arith.addi: operand 'lhs' must be given once, got it by position and by name",
    ),
    "an operand of another type": (
        lambda b, x: b.arith.addf(x, x),
        "'arith.addf' op operand #0 ('lhs') must be floating-point-like",
    ),
    "types that differ": (
        lambda b, x: b.arith.addi(x, b.constant(1, "i8")),
        "'arith.addi' op requires the same type for all operands and results",
    ),
    "a type that does not follow": (
        lambda b, x: b.arith.extsi(x),
        "arith.extsi: the type of the result 'out' cannot be inferred from the operands: give it as type=",
    ),
    "a wrong type": (
        lambda b, x: b.arith.extsi(x, type="i8"),
        "'arith.extsi' op operand type 'i32' and result type 'i8' are cast incompatible",
    ),
    "no type": (lambda b, x: b.arith.extsi(x, type="i"), "expected a type"),
    "an attribute that is none": (
        lambda b, x: b.arith.cmpi(x, x, predicat="slt"),
        "arith.cmpi has no attribute 'predicat': its only attribute is 'predicate'; did you mean 'predicate'?",
    ),
    "a predicate that is none": (
        lambda b, x: b.arith.cmpi(x, x, predicate="less"),
        "arith.cmpi: attribute 'predicate': ",
    ),
    "cannot represent": (lambda b, x: b.arith.cmpi(x, x), "'arith.cmpi' op requires attribute 'predicate'"),
    "no attribute's value": (
        lambda b, x: b.func.call(x, callee=object()),
        "func.call: attribute 'callee': an attribute must be an Attribute, a Type,",
    ),
    "a group with something else": (
        lambda b, x: b.func.return_([x, 3]),
        "func.return: operand 'operands' must be Values, got 3",
    ),
    "a kernel on integers": (
        lambda b, x: b.qrt.matmul(x, x),
        "qrt.matmul: the operands must be tensors, got i32, i32",
    ),
    "a constant that does not fit": (
        lambda b, x: b.constant([300], "tensor<1xi8>"),
        "Builder.constant: 'value' must be in [-128, 255] for elements of i8, got 300",
    ),
    "a constant of a fraction": (
        lambda b, x: b.constant(1.5, "i8"),
        "Builder.constant: 'value' must be an integer for the type i8, got 1.5",
    ),
    "a constant of another shape": (
        lambda b, x: b.constant([1, 2], "tensor<3xi8>"),
        "Builder.constant: 'value' must broadcast to the shape of 'type', tensor<3xi8>, got shape (2,)",
    ),
    "a constant of a type without": (
        lambda b, x: b.constant(1, "memref<1xi8>"),
        "Builder.constant: 'type' must be an integer, index, float, tensor or vector type",
    ),
    "a number of a type with a sign": (
        lambda b, x: b.constant(1, "ui8"),
        "Builder.constant: 'type' of an integer must be signless, got ui8: write i8",
    ),
    "an attribute of another type": (
        lambda b, x: b.constant(ir.IntegerAttr(1, parse_type("i8")), "i32"),
        "Builder.constant: 'type' is i32, but the attribute 'value' is 1 : i8, of type i8",
    ),
    "a quantized constant with too few scales": (
        lambda b, x: b.constant([1, 2], "tensor<2x!quant.uniform<i8:f32:0, {0.5}>>"),
        "dimension 0 has size 2, the type has 1 scales",
    ),
    "a quantized scalar": (
        lambda b, x: b.constant(1, "!quant.uniform<i8:f32, 1.0>"),
        "Builder.constant: 'type' must be a tensor type for quantized elements, got",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_made_is_named_and_leaves_nothing(name: str, module: ir.Module, b: ir.Builder) -> None:
    make, message = WRONG[name]
    with b.function("f", ["i32"]) as (x,):
        b.constant(1, "i8")
        before, uses = len(b.block.operations), len(x.uses)
        with pytest.raises(qrt.QuantError, match=re.escape(message)):
            make(b, x)
        made = [operation.name for operation in b.block.operations[before:]]
        assert made == ["arith.constant"] * (name == "types that differ")  # one that the call itself asked for
        assert len(x.uses) == uses
        b.func.return_()
    module.verify()


def test_names_that_are_none() -> None:
    b = ir.Builder(ir.Module())
    with pytest.raises(AttributeError, match="qrt has no dialect 'arit': did you mean 'arith'"):
        b.arit  # noqa: B018
    with pytest.raises(AttributeError, match="dialect 'arith' has no op 'addd': did you mean 'addi'"):
        b.arith.addd  # noqa: B018
    assert set(registry.DIALECTS.own) <= set(dir(b))


def test_a_function_ends_in_a_return(b: ir.Builder) -> None:
    with (
        pytest.raises(qrt.errors.QuantTypeError, match=r"the body of @f must end with a func\.return, but "),
        b.function("f", []),
    ):
        b.constant(1, "i8")


@pytest.mark.parametrize("place", [None, 3, "module"])
def test_places_that_are_none(place: object) -> None:
    with pytest.raises(qrt.errors.QuantTypeError, match="Builder: 'place' must be"):
        ir.Builder(place)  # type: ignore[arg-type]
    with pytest.raises(qrt.errors.QuantTypeError, match=r"Builder\.after: 'place' must be"):
        ir.Builder.after(place)  # type: ignore[arg-type]


class Heard(BuilderObserver):
    """An observer that notes the names of what it hears of."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def changed(self, operation: ir.Operation) -> None:
        self.names.append(operation.name)

    def erase(self, operation: ir.Operation) -> None:
        self.names.append(f"{operation.name} erased")
        operation.erase()


def test_an_observer_hears_of_each_change_at_every_place() -> None:
    module = ir.parse("func.func @f(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32  return %0 : i32 }")
    add, last = module.functions[0].regions[0].blocks[0].operations
    heard = Heard()
    b = ir.Builder(add, observer=heard)
    doubled = b.arith.muli(add.operands[0], b.constant(2, "i32"))
    with pytest.raises(qrt.errors.QuantTypeError):
        b.arith.addf(doubled, doubled)
    b.replace(add, [doubled])
    b.at(last).set_operand(last, 0, b.at(last).emit("arith.subi", [doubled, doubled], [doubled.type]).result)
    ir.Builder.after(doubled, heard).arith.muli(doubled, doubled)
    assert heard.names == [
        "arith.constant", "arith.muli", "arith.addf", "arith.addf erased", "func.return", "arith.addi erased",
        "arith.subi", "func.return", "arith.muli",
    ]  # fmt: skip
    assert [operation.name for operation in last.parent or ()] == [
        "arith.constant", "arith.muli", "arith.muli", "arith.subi", "func.return",
    ]  # fmt: skip


def test_operations_stand_where_their_place_stands() -> None:
    module = ir.parse("func.func @f(%x: i32) {\n  return\n}", filename="f.mlir")
    (last,) = module.functions[0].regions[0].blocks[0]
    x = module.functions[0].regions[0].blocks[0].arguments[0]
    for b in (ir.Builder(last), ir.Builder(ir.Block(), last.location), ir.Builder.after(b_add(ir.Builder(last), x))):
        assert str(b_add(b, x).location) == str(last.location)
    assert str(b_add(ir.Builder(ir.Module()), x).location) == "<built>:1:1"


def b_add(b: ir.Builder, x: ir.Value) -> ir.Operation:
    return b.create("arith.addi", x, x)


def test_what_a_pass_emits_is_taken_as_it_is(module: ir.Module, b: ir.Builder) -> None:
    x = b.constant(1, "i32")
    b.loc = ir.LocationAttr('"stage"')
    wide = b.value("arith.extsi", [x], parse_type("i8"))  # which no `create` would make
    assert str(wide.type) == "i8"
    assert 'loc("stage")' in module.print(locations=True)
    with pytest.raises(qrt.errors.VerifyError, match="cast incompatible"):
        module.verify()
