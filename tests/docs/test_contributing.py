"""What CONTRIBUTING says an addition touches is all that it touches: in a copy of the tree an op family, a pass and a
canonicalization are added, to the files of its tables alone, and pass the tests that ask for whatever lacks.

The family is without kernels; `tests/kernels/test_new_isa.py` adds an ISA. By its declaration alone it is fused,
exported and quantized: its tests ask for that."""

import inspect
import os
import re
import shutil

import qrt
from qrt.ir import pipeline
from qrt.ir.core.registry import definition
from qrt.ir.pipeline import PASSES
from qrt.ir.rewriting.rewrite import canonicalizations
from qrt.numerics import RequantRule
from tests.docs.documents import ROOT, sections
from tests.docs.recipes import recipes
from tests.docs.tree import Tree, python

PAGE = sections((ROOT / "CONTRIBUTING.md").read_text())

OP = '''"""negative: every value with the other sign, the end of the storage where there is none."""

import numpy as np

from qrt.ops.core import OpFamily, parameters_of, quantized
from qrt.ops.declare import KEPT, Declaration, Operand, Traits


def _infer(types, attributes, result):
    quantized(types[0], "negative", "q")
    return types[0]


def _reference(arrays, types, result, attributes):
    t = quantized(types[0], "negative", "q")
    return np.clip(2 * parameters_of(t, arrays[0].shape)[1] - arrays[0], t.storage_min, t.storage_max)


FAMILIES = (
    OpFamily(
        Declaration("negative", operands=(Operand("q"),), result=KEPT),
        infer=_infer,
        reference=_reference,
        traits=Traits(is_elementwise=True, float_op="arith.negf", constraint="same_scale"),
    ),
)
'''
LOWERING = '''"""negative: `2 * zp - q`, clamped."""

from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.passes.lower_qrt.parameters import Channels
from qrt.ir.passes.lower_qrt.requantize import to_storage
from qrt.ir.dialects.linalg.lowering import (I64, uniform_type)


def lower_negative(context, op, attributes):
    t, stored = uniform_type(op.operands[0]), context.storage(op.operands[0])
    nest = LoopNest(context, "accumulate", context.extents(stored))
    channels = Channels.of(t, nest.loops)
    value = nest.extend(nest.read(stored, nest.loops), I64, t.is_signed)
    value = nest.value("arith.subi", (nest.constant(0, I64), value), I64)
    return nest.finish(to_storage(nest, value, 2 * channels.zero_points(), channels.indices, t))[0]
'''
FUNCTION = '''

@eager
def negative(q: QuantTensor, *, out: QuantTensor | None = None) -> EagerCall[QuantTensor]:
    """Every value with the other sign.

    Parameters
    ----------
    q : QuantTensor
        Of any shape.
    out : QuantTensor, optional
        Which is filled and returned.

    Raises
    ------
    QuantTypeError
        If ``q`` is no QuantTensor.

    Examples
    --------
    >>> negative(QuantTensor(np.int8([-1, 2]), UniformType("i8", "f32", 0.5, 1))).storage.tolist()
    [3, 0]
    """
    return bind("negative", (q,), {}, None, out)
'''
TESTS = """import numpy as np
import onnx

import qrt
from qrt import ir

X, Y = "!quant.uniform<i8:f32, 0.5:1>", "!quant.uniform<u8:f32, 0.25:9>"
PROGRAM = f'''func.func @main(%x: tensor<3x2x{X}>) -> tensor<3x2x{Y}> {{
  %0 = qrt.transpose %x : (tensor<3x2x{X}>) -> tensor<2x3x{X}>
  %1 = qrt.negative %0 : (tensor<2x3x{X}>) -> tensor<2x3x{X}>
  %2 = qrt.transpose %1 : (tensor<2x3x{X}>) -> tensor<3x2x{X}>
  %3 = qrt.requantize %2 : (tensor<3x2x{X}>) -> tensor<3x2x{Y}>
  return %3 : tensor<3x2x{Y}>
}}'''
FLOATS = '''func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = arith.negf %x : tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}'''
TARGET = '''[[kernel]]
name = "negative"
ports = {q = "i8", y = "i8"}
'''


def test_of_the_ends():
    q = qrt.QuantTensor(np.int8([-128, -1, 127]), qrt.UniformType("i8", "f32", 0.5, 1))
    assert qrt.negative(q).storage.tolist() == [127, 3, -125]


def test_it_is_fused_with_the_requantization_behind_it_and_the_transposes_around_it_cancel():
    program = qrt.compile(PROGRAM)
    assert [step.op for step in program.coverage()] == ["qrt.lookup"]
    x = np.arange(-3, 3, dtype=np.int8).reshape(3, 2)
    np.testing.assert_array_equal(program(x).storage, program.run({"arg0": x}, interpret=True)["result0"].storage)


def test_it_is_exported(tmp_path):
    qrt.models.export_onnx(tmp_path / "m.onnx", ir.parse(PROGRAM))
    assert "Neg" in [node.op_type for node in onnx.load(tmp_path / "m.onnx").graph.node]
    again = qrt.load(tmp_path / "m.onnx")
    assert "qrt.negative" in [op.name for op in again.operation.walk()]
    x = np.arange(-3, 3, dtype=np.int8).reshape(3, 2)
    np.testing.assert_array_equal(qrt.compile(again)(x).storage, qrt.compile(PROGRAM)(x).storage)


def test_it_is_quantized(tmp_path):
    rows = np.random.default_rng(0).standard_normal((64, 4)).astype(np.float32)
    made = qrt.quantize_program(ir.parse(FLOATS), {"arg0": rows})
    assert qrt.quantization.is_fully_quantized(made.module)
    (tmp_path / "npu.toml").write_text(TARGET)
    module = ir.run_passes(ir.parse(FLOATS), f"fuse-kernels{{target={tmp_path}/npu.toml}}")
    assert 'kernel = "negative"' in str(module)
"""
DRAW = """

def _negative(draw: OpDraw, name: str) -> DrawnOp:
    shape = draw.dims(draw.randint(1, 3), 6)
    t = any_element(draw, shape)
    x = draw.array(t, shape)

    def plain(to: UniformType, size: Sequence[int]) -> Array:
        turned = [naive.parameters_at(t, i)[1] - naive.centred(x, t, i) for i in np.ndindex(*shape)]
        return np.clip(np.reshape(turned, shape), t.storage_min, t.storage_max)

    return DrawnOp(name, [x], [t], None, plain, {}, [open_of(t, shape)])


DRAWS["negative"] = _negative
"""
PASS = '''"""Counts."""

from dataclasses import dataclass

from qrt.ir import Module
from qrt.ir.core.attributes import attribute


@dataclass(frozen=True)
class Count:
    """Writes how many operations a module has."""

    def run(self, module: Module) -> None:
        module.operation.attributes["note.count"] = attribute(sum(1 for _ in module.operation.walk()))
'''
PATTERN = '''

def repeated_qcast(operation, builder):
    """A cast that stands before, too."""
    for other in operation.parent:
        if other is operation:
            return None
        if other.name == operation.name and other.operands == operation.operands and other.result.type is operation.result.type:
            return [other.result]
'''  # noqa: E501
QCASTS = """func.func @{}(%x: tensor<2xf32>) -> (tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) {{
  %0 = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.5>>
  %1 = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 0.5>>
  return %0, %1 : tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>
}}
"""  # noqa: E501

RULE = """FLOAT32_AWAY: Final = Arithmetic("float32_away", "float32", (("multiply", "scale_f32"),), ("half_away",))
"""
IN_C = """static int64_t float32_away(const qrt_requant *requant, int128 acc, int64_t parameter) {
    const int64_t zero_point = requant->zero_point[parameter];
    const float low = (float)(requant->storage_min - zero_point), high = (float)(requant->storage_max - zero_point);
    const float scaled = (float)(int64_t)acc * requant->scale_f32[parameter];
    const double v = ref_round_half_away(scaled < low ? low : scaled > high ? high : scaled);
    return ref_clamp((int128)v + zero_point, requant->storage_min, requant->storage_max);
}

"""
CHANGE = """    (
        TABLE,
        '"float32_away", "float32", (("multiply", "scale_f32"),), ("half_away",)',
        '"float32_away", "float32", (("multiply", "scale_f32"),), ("half_even",)',
    ),
"""
IN_RATIONALS = """    if rule == "float32_away":
        product = to_ieee(_f32(Fraction(acc)) * rounded_ratio(numerators, denominators, "f32"), "f32")
        low, high = (_f32(Fraction(bound - zero_point)) for bound in bounds)
        return clamp(round_integer(Fraction(min(max(product, low), high)), "half_away") + zero_point, *bounds)
"""
COMPARISON = """import numpy as np
from qrt import numerics
from tests import rules
p = numerics.requant_parameters("float32_away", "i8", -128, 127, [(0.5, 0.5)], [(1.0,)], [-5])
acc = np.arange(-300, 300)
want = [rules.requantize("float32_away", int(a), (0.5, 0.5), 1.0, (-128, 127), -5) for a in acc]
assert numerics.requantize(acc, p).tolist() == want
float32 = numerics.requant_parameters("float32", "i8", -128, 127, [(0.5, 0.5)], [(1.0,)], [-5])
assert numerics.requantize(acc, float32).tolist() != want
"""


def source(value):
    """Where in the tree something stands."""
    return os.path.relpath(inspect.getsourcefile(inspect.unwrap(value)), ROOT)


def table(section, model, name):
    """The files of a section's first table, `name` being added as the `model` is."""
    rows = re.search(r"(?:^\|.*\n)+", PAGE[section], re.MULTILINE)[0].splitlines()[2:]
    return {re.search(r"`([^`]+)`", row)[1].replace(model, name) for row in rows}


def add_family(tree):
    tree.make("qrt/ops/negative.py", OP)
    tree.make(source(PASSES["lower-qrt"]).replace("__init__.py", "negative.py"), LOWERING)
    tree.edit("qrt/ops/__init__.py", "    movement,\n", "    movement,\n    negative,\n")
    tree.edit("qrt/ops/__init__.py", " movement, ", " movement, negative, ")
    line = '        "pad": '
    place = '"qrt.ir.passes.lower_qrt.negative:lower_negative"'
    tree.edit("qrt/ir/passes/lower_qrt/registry.py", line, f'        "negative": {place},\n{line}')
    tree.append(source(qrt.clamp), FUNCTION)
    tree.edit("qrt/__init__.py", "    mul,\n", "    mul,\n    negative,\n")
    tree.edit("qrt/__init__.py", '    "clamp",\n', '    "clamp",\n    "negative",\n')
    tree.edit("tests/cases.py", '    "clamp": CASTS,\n', '    "clamp": CASTS,\n    "negative": CASTS,\n')
    rule = "| `clamp`, `relu` |"
    tree.edit("docs/numerics_operations.md", rule, f"| `negative` | `2*z - q`, clamped |\n{rule}")
    line = "  %4 = qrt.clamp %3 {"
    for page in ("docs/reference/dialects/qrt.md", "tests/ir/ops.mlir"):
        tree.edit(page, line, f"  %negative = qrt.negative %3 : (!y) -> !y\n{line}")
    tree.make("tests/ops/test_negative.py", TESTS)
    tree.edit("tests/ir/passes/lower_qrt/draw_ops.py", "\n_COUNTS = {", f"{DRAW}\n_COUNTS = {{")


def add_rule(tree):
    table, last = source(RequantRule), "INTEGER: Final = Arithmetic("
    tree.edit(
        table,
        'MulName = Literal[RequantName, "zero_point_first"]',
        'MulName = Literal[RequantName, "zero_point_first", "float32_away"]',
    )
    tree.edit(table, last, f"{RULE}{last}")
    tree.edit(table, "INTEGER, DEQUANTIZED)", "INTEGER, DEQUANTIZED, FLOAT32_AWAY)")
    row = '        RequantRule("zero_point_first",'
    tree.edit(table, row, f'        RequantRule("float32_away", FLOAT32_AWAY, form_float, "float32"),\n{row}')
    tree.edit("tests/rules.py", '    if rule == "float64_away":\n', f'{IN_RATIONALS}    if rule == "float64_away":\n')
    drawn = 'st.just("zero_point_first")'
    tree.edit("tests/ops/test_binary.py", drawn, 'st.sampled_from(["zero_point_first", "float32_away"])')
    tree.edit("csrc/rules.def", "\n#undef", "QRT_RULE(QRT_FLOAT32_AWAY, float32_away)\n\n#undef")
    tree.edit("csrc/ref/requant.c", "int64_t ref_requantize(", f"{IN_C}int64_t ref_requantize(")
    case = "    case QRT_DEQUANTIZED:\n"
    own = "    case QRT_FLOAT32_AWAY:\n        return float32_away(requant, acc, parameter);\n"
    tree.edit("csrc/ref/requant.c", case, f"{own}{case}")
    stores = [f"csrc/isa/x86/store/{name}.inl" for name in ("strip", "store")]
    for file in ("csrc/ref/elementwise.c", "csrc/ref/gemm.c", *stores):
        text = (tree.folder / file).read_text()
        tree.make(file, re.sub(r"( +)case QRT_DEQUANTIZED:\n", r"\1case QRT_FLOAT32_AWAY:\n\g<0>", text))
    heading = "    # The table of rules.\n"
    tree.edit("tests/ir/passes/lower_qrt/mutations.py", heading, f"{heading}{CHANGE}")


def add_pass(tree):
    registry = source(pipeline.run_passes)
    tree.make("qrt/ir/passes/count.py", PASS)
    tree.edit(registry, '    "cse":', '    "count": "qrt.ir.passes.count:Count",\n    "cse":')
    tree.edit("docs/reference/passes.md", "| `cse` | none", "| `count` | none | yes | counts |\n| `cse` | none")
    tree.make("tests/ir/passes/files/count.mlir", "// count\nfunc.func private @f()\n")
    tree.make("tests/ir/passes/files/count.expected.mlir", "")


def add_canonicalization(tree):
    (pattern,) = canonicalizations(definition("quant.cast"))
    tree.append(source(pattern), PATTERN)
    named = '    fold=fold_qcast,\n    canonicalize=("quant.canonicalize: repeated_qcast",),\n'
    tree.edit(source(pattern).replace("canonicalize.py", "ops.py"), "    fold=fold_qcast,\n", named)
    tree.append("tests/ir/passes/files/quant_kernels.mlir", QCASTS.format("casts"))
    tree.append("tests/ir/passes/values/quantized.mlir", QCASTS.format("casts"))


ADDITIONS = {
    "Add an op family": (add_family, ("clamp", "negative")),
    "Add a pass": (add_pass, ("dce", "count")),
    "Add a canonicalization": (add_canonicalization, ("", "")),
}
"""What adds one, and what stands for the model's name in the files of the section's table."""
ASKED_OF_A_RULE = (
    "tests/numerics/test_rules.py",
    "tests/kernels/test_rules.py::test_the_names_are_those_of_the_table",
    "tests/kernels/test_rules.py::test_a_new_rule_does_not_compile_without_cases",
    "tests/kernels/test_rules.py::test_ref_computes_every_row",
    "tests/reference/test_rules_page.py",
    "tests/test_registry.py::test_a_family_is_whole",
)
ASKED = (
    "tests/test_registry.py",
    "tests/ops/test_negative.py",
    "tests/ops/test_traits.py::test_the_traits_of_a_family_are_what_it_computes[negative]",
    "tests/test_family_names.py",
    "tests/ir/test_files.py::test_the_files_hold_every_op",
    "tests/ir/test_files.py::test_prints_as_expected[ops.mlir]",
    "tests/docs/test_api.py",
    "tests/docs/test_dialects.py::test_a_page_shows_every_op_of_its_dialect[qrt]",
    "tests/ir/passes/lower_qrt/test_drawn.py::test_drawn[negative]",
    "tests/docs/test_documents.py::test_the_table_of_passes_has_every_pass_and_option",
    "tests/ir/passes/test_files.py::test_passes_as_expected[count.mlir]",
    "tests/ir/passes/test_files.py::test_passes_as_expected[quant_kernels.mlir]",
)


def test_a_rule_is_rows_of_tables_and_cases(tmp_path):
    """The rule of `mul` in CONTRIBUTING: table, lowering and ref compute the same, and nothing else is touched."""
    tree = Tree(tmp_path)
    shutil.copytree(ROOT / "csrc", tmp_path / "csrc")
    shutil.copy2(ROOT / "tests/kernels/requant.c", tmp_path / "tests/kernels")
    add_rule(tree)
    tree.run("tests.expected")
    named = set(re.findall(r"^\| \[`([^`]+)`", PAGE["Add a requantization rule"], re.MULTILINE))
    assert tree.touched() == named
    status, printed = python(tmp_path, "-c", COMPARISON)
    assert status == 0, printed
    tree.run("pytest", "-q", "-p", "no:cacheprovider", *ASKED_OF_A_RULE)


def test_additions_touch_what_contributing_names_and_nothing_else(tmp_path):
    tree, known = Tree(tmp_path), set()
    for section, (add, names) in ADDITIONS.items():
        add(tree)
        tree.run("tests.expected")
        assert tree.touched() - known == table(section, *names), section
        known = tree.touched()
    assert (
        "%0, %0" in (tmp_path / "tests/ir/passes/files/quant_kernels.expected.mlir").read_text().rpartition("@casts")[2]
    )
    tree.run("pytest", "-q", "-p", "no:cacheprovider", *ASKED)


def test_recipes_touch_what_they_name_and_pass_the_tests_that_they_name(tmp_path):
    tree, known = Tree(tmp_path), set()
    additions = recipes(PAGE["Add a command, an operator, a profile, an engine or a target"])
    assert len(additions) == 7
    for recipe in additions:
        recipe.apply(tree)
        assert tree.touched() - known == recipe.edited - known, recipe.title
        assert recipe.tests, recipe.title
        known |= recipe.edited
    tree.run("tests.expected")
    assert tree.touched() - known == {path for recipe in additions for path in recipe.written}
    tests = dict.fromkeys(test for recipe in additions for test in recipe.tests)
    tree.run("pytest", "-q", "-p", "no:cacheprovider", *tests)
