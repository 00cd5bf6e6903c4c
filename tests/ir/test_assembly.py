"""Assembly formats: upstream ops declared as their ODS declares them print and fail as mlir-opt 22 does."""

import pytest

from qrt import ir
from qrt.errors import ParseError, VerifyError
from qrt.ir.core import attribute_kinds as kinds
from qrt.ir.core.constraints import element_type_of, same_as
from qrt.ir.core.define import AttributeSpec, Definition
from qrt.ir.core.registry import DEFINITIONS, every_definition
from qrt.ir.core.traits import MEM_ALLOC, MEM_READ, MEM_WRITE, PURE, TERMINATOR
from qrt.types import IntegerType
from tests import mlir_opt
from tests.mlir_opt import upstream

I64S = kinds.dense_array(IntegerType(64))
LISTS = "dynamic_indices($offsets, $static_offsets)", "dynamic_indices($sizes, $static_sizes)"
STRIDES = "dynamic_indices($strides, $static_strides)"
STATIC = {f"static_{name}": AttributeSpec(kind=I64S, required=True) for name in ("offsets", "sizes", "strides")}
DYNAMIC = tuple(f"{name}*: index" for name in ("offsets", "sizes", "strides"))
RMW = "addf addi assign maximumf maxs maxu minimumf mins minu mulf muli".split()  # noqa: SIM905
UNIT = AttributeSpec(kind=kinds.UNIT)

UPSTREAM = [
    Definition(
        "memref.load",
        operands=("memref: memref", "indices*: index"),
        results=("result",),
        infer={"result": element_type_of("memref", "result type matches element type of 'memref'")},
        traits={MEM_READ},
        format="$memref `[` $indices `]` attr-dict `:` type($memref)",
    ),
    Definition(
        "memref.alloc",
        operands=("dynamicSizes*: index", "symbolOperands*: index"),
        results=("memref: memref",),
        traits={MEM_ALLOC},
        format="`(` $dynamicSizes `)` (`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)",
    ),
    Definition(
        "memref.reinterpret_cast",
        operands=("source: ranked or unranked memref", *DYNAMIC),
        results=("result: memref",),
        attributes=STATIC,
        traits={PURE},
        format=f"$source `to` `offset` `` `:` {LISTS[0]} `` `,` `sizes` `` `:` {LISTS[1]} `` `,` `strides` `` `:` "
        f"{STRIDES} attr-dict `:` type($source) `to` type($result)",
    ),
    Definition(
        "tensor.extract_slice",
        operands=("source: ranked tensor", *DYNAMIC),
        results=("result: ranked tensor",),
        attributes=STATIC,
        traits={PURE},
        format=f"$source `` {LISTS[0]} {LISTS[1]} {STRIDES} attr-dict `:` type($source) `to` type($result)",
    ),
    Definition(
        "memref.realloc",
        operands=("source: memref", "dynamicResultSize?: index"),
        results=("result: memref",),
        traits={MEM_WRITE},
        format="$source (`(` $dynamicResultSize^ `)`)? attr-dict `:` type($source) `to` type($result)",
    ),
    Definition(
        "bufferization.to_tensor",
        operands=("buffer: ranked or unranked memref",),
        results=("result: tensor",),
        attributes={"restrict": UNIT, "writable": UNIT},
        traits={MEM_READ},
        format="$buffer (`restrict` $restrict^)? (`writable` $writable^)? attr-dict `:` type($buffer) `to` "
        "type($result)",
    ),
    Definition(
        "memref.atomic_rmw",
        operands=("value: any", "memref: memref", "indices*: index"),
        results=("result",),
        attributes={
            "kind": AttributeSpec(
                kind=kinds.keyword(
                    ["addf", "addi", "assign", "maximumf", "maxs", "maxu", "minimumf", "mins", "minu", "mulf", "muli"]
                ),
                required=True,
            )
        },
        infer={"result": same_as("value")},
        traits={MEM_READ, MEM_WRITE},
        format="$kind $value `,` $memref `[` $indices `]` attr-dict `:` `(` type($value) `,` type($memref) `)` `->` "
        "type($result)",
    ),
    Definition(
        "tensor.concat",
        operands=("inputs*: ranked tensor",),
        results=("result: ranked tensor",),
        attributes={"dim": AttributeSpec(kind=kinds.I64, required=True)},
        traits={PURE},
        format="`dim` `(` $dim `)` $inputs attr-dict `:` functional-type(operands, results)",
    ),
    Definition(
        "vector.transpose",
        operands=("vector: vector",),
        results=("result: vector",),
        attributes={"permutation": AttributeSpec(kind=I64S, required=True)},
        traits={PURE},
        format="$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)",
    ),
    Definition(
        "cf.assert",
        operands=("arg: i1",),
        attributes={"msg": AttributeSpec(kind=kinds.STRING, required=True)},
        format="$arg `,` $msg attr-dict",
    ),
    Definition(
        "memref.get_global",
        results=("result: memref",),
        attributes={"name": AttributeSpec(kind=kinds.FLAT_SYMBOL_REF, required=True)},
        traits={PURE},
        format="$name attr-dict `:` type($result)",
    ),
    Definition(
        "cf.br",
        operands=("destOperands*",),
        successors=("dest: destOperands",),
        traits=(PURE, TERMINATOR),
        format="$dest (`(` $destOperands^ `:` type($destOperands) `)`)? attr-dict",
    ),
    Definition(
        "cf.cond_br",
        operands=("condition: i1", "trueDestOperands*", "falseDestOperands*"),
        successors=("trueDest: trueDestOperands", "falseDest: falseDestOperands"),
        traits=(PURE, TERMINATOR),
        format="$condition `,` $trueDest (`(` $trueDestOperands^ `:` type($trueDestOperands) `)`)? `,` $falseDest "
        "(`(` $falseDestOperands^ `:` type($falseDestOperands) `)`)? attr-dict",
    ),
    Definition("scf.yield", operands=("results*",), parents=("scf.for", "scf.if"), traits=(PURE, TERMINATOR)),
]

ARGUMENTS = "%arg0: memref<4x?xf32>, %arg1: index, %arg2: tensor<8xf32>, %arg3: i1, %arg4: vector<2x3xf32>, %arg5: f32"
LINES = [
    "%0 = memref.load %arg0[%arg1, %arg1] : memref<4x?xf32>",
    "%0 = memref.load %arg0[%arg1, %arg1] {a} : memref<4x?xf32>",
    "%0 = memref.alloc() : memref<4xf32>",
    "%0 = memref.alloc(%arg1) : memref<?xf32>",
    "%0 = memref.alloc(%arg1)[%arg1] : memref<?xf32, strided<[?]>>",
    "%0 = tensor.extract_slice %arg2[%arg1] [4] [1] : tensor<8xf32> to tensor<4xf32>",
    "%0 = tensor.extract_slice %arg2[0] [%arg1] [1] {b} : tensor<8xf32> to tensor<?xf32>",
    "%0 = memref.reinterpret_cast %arg0 to offset: [0], sizes: [%arg1], strides: [1] "
    ": memref<4x?xf32> to memref<?xf32>",
    "%0 = bufferization.to_tensor %arg0 : memref<4x?xf32> to tensor<4x?xf32>",
    "%0 = bufferization.to_tensor %arg0 restrict writable : memref<4x?xf32> to tensor<4x?xf32>",
    "%0 = memref.atomic_rmw addf %arg5, %arg0[%arg1, %arg1] : (f32, memref<4x?xf32>) -> f32",
    "%0 = tensor.concat dim(0) %arg2, %arg2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>",
    "%0 = vector.transpose %arg4, [1, 0] : vector<2x3xf32> to vector<3x2xf32>",
    'cf.assert %arg3, "must hold"',
    "cf.br ^bb1\n  ^bb1:  // pred: ^bb0",
    "cf.br ^bb1(%arg1, %arg1 : index, index)\n  ^bb1(%0: index, %1: index):  // pred: ^bb0",
    "cf.cond_br %arg3, ^bb1(%arg5 : f32), ^bb2\n  ^bb1(%0: f32):  // pred: ^bb0\n    return\n  ^bb2:  // pred: ^bb0",
]


@pytest.fixture(autouse=True)
def declared(monkeypatch):
    """In the place of ours, which are loaded first: they must not come in their place later."""
    for definition in UPSTREAM:
        monkeypatch.setitem(every_definition(), definition.name, definition)


def program(line):
    return f"module {{\n  func.func @f({ARGUMENTS}) {{\n    {line}\n    return\n  }}\n}}\n"


@pytest.mark.parametrize("line", LINES)
def test_prints_what_it_reads(line):
    """A space or an inferred type too many or too few."""
    module = ir.parse(program(line))
    module.verify()
    assert str(module) == program(line)
    again = ir.parse(module.print(generic=True))
    assert again == module


@mlir_opt.needed
def test_prints_as_upstream():
    text = "// -----\n".join(map(program, LINES))
    accepted, output = upstream(text, "--split-input-file", "--mlir-print-local-scope")
    assert accepted, output
    parts = output.split("// -----\n")
    assert [str(ir.parse(part)) for part in parts] == [str(ir.parse(program(line))) for line in LINES]
    generic = "// -----\n".join(ir.parse(program(line)).print(generic=True) for line in LINES)
    assert upstream(generic, "--split-input-file", "--mlir-print-local-scope") == (True, output)


WRONG = {
    '"memref.load"(%m, %i) : (memref<4xf32>, i32) -> f32': (
        "'memref.load' op operand #1 must be variadic of index, but got 'i32'"
    ),
    '"memref.load"(%i, %n) : (i32, index) -> f32': (
        "'memref.load' op operand #0 must be memref of any type values, but got 'i32'"
    ),
    '"memref.load"(%m, %n) : (memref<4xf32>, index) -> f64': (
        "'memref.load' op failed to verify that result type matches element type of 'memref'"
    ),
    '"memref.load"() : () -> f32': "'memref.load' op expected 1 or more operands, but found 0",
    '"memref.load"(%i) : (i32) -> ()': "'memref.load' op requires one result",
    '"memref.alloc"() <{operandSegmentSizes = array<i32: 0, 1>}> : () -> memref<4xf32>': (
        "'memref.alloc' op operand count (0) does not match with the total size (1) specified in attribute "
        "'operandSegmentSizes'"
    ),
    '"memref.alloc"() <{operandSegmentSizes = array<i32: -1, 1>}> : () -> memref<4xf32>': (
        "'memref.alloc' op 'operandSegmentSizes' attribute cannot have negative elements"
    ),
    '"memref.realloc"(%m, %n, %n) : (memref<4xf32>, index, index) -> memref<4xf32>': (
        "'memref.realloc' op operand group starting at #1 requires 0 or 1 element, but found 2"
    ),
    '"cf.assert"(%i) : (i32) -> ()': "'cf.assert' op requires attribute 'msg'",
    '"cf.assert"(%i) {msg = "a"} : (i32) -> ()': (
        "'cf.assert' op operand #0 must be 1-bit signless integer, but got 'i32'"
    ),
    '"cf.br"() : () -> ()': "'cf.br' op requires 1 successor but found 0",
    '"cf.br"(%i)[^bb1] : (i32) -> ()\n^bb1:': "branch has 1 operands for successor #0, but target block has 0",
    '"cf.br"(%i)[^bb1] : (i32) -> ()\n^bb1(%b: i8):': "type mismatch for bb argument #0 of successor #0",
    '"quant.qcast"() : () -> f32': "'quant.qcast' op requires a single operand",
    '"arith.constant"(%i) <{value = 1 : i32}> : (i32) -> i32': "'arith.constant' op requires zero operands",
    '"shape.split_at"(%i, %i) : (i32, i32) -> ()': "'shape.split_at' op expected 2 results",
    '"arith.negf"(%i) ({}) : (i32) -> i32': "'arith.negf' op requires zero regions",
    '"tensor.dim"(%z, %n) : (tensor<f32>, index) -> index': (
        "'tensor.dim' op operand #0 must be non-0-ranked or unranked tensor, but got 'tensor<f32>'"
    ),
    '"tensor.splat"(%i) : (i32) -> tensor<4xf32>': (
        "'tensor.splat' op failed to verify that operand type matches element type of result"
    ),
    '"tensor.from_elements"(%i) : (i32) -> tensor<2xi32>': (
        "'tensor.from_elements' op failed to verify that operand types match result element type"
    ),
    '"shape.num_elements"(%z) : (tensor<f32>) -> index': (
        "'shape.num_elements' op operand #0 must be shape or extent tensor, but got 'tensor<f32>'"
    ),
    '"func.call"() : () -> ()': "'func.call' op requires attribute 'callee'",
    '"func.return"() : () -> f32': "'func.return' op requires zero results",
}


def wrong(line):
    return f"func.func @f(%m: memref<4xf32>, %i: i32, %n: index, %z: tensor<f32>) {{\n{line}\nreturn\n}}\n"


@pytest.mark.parametrize("line", [line for line in WRONG if "arith.negf" not in line])
def test_refuses_with_upstreams_words(line):
    with pytest.raises(VerifyError) as caught:
        ir.parse(wrong(line)).verify()
    assert caught.value.message == WRONG[line]


@mlir_opt.needed
def test_upstream_uses_these_words():
    assert mlir_opt.errors("// -----\n".join(map(wrong, WRONG)), "--split-input-file") == list(WRONG.values())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%0 = memref.load %arg0 %arg1] : memref<4x?xf32>", "expected '['"),
        ("%0 = memref.atomic_rmw add %arg5, %arg0[] : (f32, memref<4x?xf32>) -> f32", "expected one of addf, addi"),
        ("%0 = tensor.extract_slice %arg2[x] [4] [1] : tensor<8xf32> to tensor<4xf32>", "an integer or an SSA operand"),
        ("%0 = vector.transpose %arg4, [1 0] : vector<2x3xf32> to vector<3x2xf32>", "expected ']'"),
        ("cf.br ^bb1(%arg1, %arg1 : index)", "has 2 operands but 1 types"),
        ("cf.assert %arg3, 7", "expected string attribute"),
    ],
)
def test_syntax_errors_name_what_is_expected(line, message):
    with pytest.raises(ParseError, match=message.replace("[", r"\[").replace("]", r"\]")):
        ir.parse(program(line))


def test_every_format_compiles():
    """Formats are compiled at their first use: a mistake in one must not wait for it."""
    compiled = [definition.assembly for definition in every_definition().values() if definition.format is not None]
    assert len(compiled) > 20


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$c attr-dict", "names 'c', which the op does not declare"),
        ("$a ?", "cannot parse the assembly format at"),
        ("$a attr-dict", r"test\.op: the assembly format must have a 'type\(\.\.\.\)' for 'a', because no type can"),
        ("$a (`x` $b)? `:` type($a)", r"test\.op: an optional group '\(\.\.\.\)\?' of the assembly format must"),
        ("$a what($b) `:` type($a)", "has the unknown directive 'what'"),
    ],
)
def test_a_wrong_format_is_refused(text, message):
    definition = Definition("test.op", operands=("a", "b?: index"), format=text)
    with pytest.raises(ValueError, match=message):
        definition.assembly  # noqa: B018


def test_groups_are_found_by_name():
    module = ir.parse(program("%0 = memref.alloc(%arg1)[%arg1, %arg1] : memref<?xf32, strided<[?], offset: ?>>"))
    (alloc, _) = module.functions[0].regions[0].blocks[0]
    sizes = [len(alloc.definition.operand_group(alloc, name)) for name in ("dynamicSizes", "symbolOperands")]
    assert sizes == [1, 2]
    assert alloc.definition.result_group(alloc, "memref") == alloc.results


# -- what no op of upstream shows alone --------------------------------------------------------------------------------

LOOP = Definition(
    "test.loop",
    operands=("count: index",),
    regions=("body: 1",),
    implicit_terminator="test.end",
    format="$count $body attr-dict-with-keyword",
)
END = Definition("test.end", traits={PURE, TERMINATOR}, parents=("test.loop",), format="attr-dict")
EITHER = Definition(
    "test.either",
    operands=("a: index", "b?: index"),
    format="$a (`with` $b^):(`alone`) attr-dict",
)


@pytest.fixture
def test_dialect(monkeypatch):
    for definition in (LOOP, END, EITHER):
        monkeypatch.setitem(DEFINITIONS, definition.name, definition)


@pytest.mark.usefixtures("test_dialect")
def test_an_implicit_terminator_is_made_and_left_out():
    text = program('test.loop %arg1 {\n      cf.assert %arg3, "x"\n    } attributes {a}')
    module = ir.parse(text)
    module.verify()
    assert str(module) == text
    assert '"test.end"() : () -> ()' in module.print(generic=True)
    assert str(ir.parse(module.print(generic=True))) == text


@pytest.mark.usefixtures("test_dialect")
@pytest.mark.parametrize("line", ["test.either %arg1 with %arg1", "test.either %arg1 alone {a}"])
def test_one_of_two_forms(line):
    assert str(ir.parse(program(line))) == program(line)


@pytest.mark.usefixtures("test_dialect")
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("test.end", "'test.end' op expects parent op 'test.loop'"),
        (
            '"scf.yield"() : () -> ()',
            "'scf.yield' op expects parent op to be one of 'scf.for, scf.if'",
        ),
        (
            "test.loop %arg1 { func.return }",
            "'test.loop' op expects regions to end with 'test.end', found 'func.return'",
        ),
        ('"test.loop"(%arg1) : (index) -> ()', "'test.loop' op requires one region"),
        (
            '"test.loop"(%arg1) ({}) : (index) -> ()',
            "'test.loop' op region #0 ('body') failed to verify constraint: region with 1 blocks",
        ),
    ],
)
def test_structure(line, message):
    module = ir.parse(program(line))
    with pytest.raises(VerifyError) as caught:
        module.verify()
    assert caught.value.message == message
