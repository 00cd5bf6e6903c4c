"""The checklist of an op family: what its declaration says, and what has to stand elsewhere. What is missing, or is
there and has no family, fails here, unless a reason is stated."""

import inspect
import re
from importlib import import_module
from typing import Any, get_args

import pytest

import qrt
from qrt.ir.core.registry import every_definition
from qrt.ir.passes.lower_qrt.registry import LOWERINGS
from qrt.models.onnx.exporting.registry import WRITERS
from qrt.ops import FAMILIES, OpFamily
from qrt.ops.declare import REQUIRED, SAME, Declaration
from qrt.quantization.targets.declared import WITHOUT_REGIONS
from qrt.runtime.interpreter import TABLES
from tests import cases
from tests.docs.documents import DIALECTS, ROOT, family_row
from tests.ir.passes.lower_qrt.draw_ops import DRAWS
from tests.kernels.jobs import mixed_jobs

NUMERICS = "".join(page.read_text() for page in sorted((ROOT / "docs").glob("numerics*.md")))
TABLE = DIALECTS["qrt"].read_text()

_SELECTIONS = (
    "slice tile gather gather_nd reduce_max reduce_min argmax argmin top_k resize_bilinear resize_nearest scatter_nd "
    "cumsum"
)
_SCALAR = "maximum minimum div squared_difference leaky_relu prelu"
_FUNCTIONS = "log_softmax logistic tanh lookup_interpolated"
_ROWS = (
    ("function", _SELECTIONS, "arrays are indexed and compared by NumPy's functions, and imported programs resize"),
    ("function", "maximum minimum sum", "np.maximum, np.minimum and np.sum compute it"),
    ("function", "div", "programs that were imported have it: np.divide is exact"),
    ("function", "leaky_relu", "programs that were imported have it: a lookup computes any function"),
    ("function", f"squared_difference prelu transpose_conv2d {_FUNCTIONS}", "programs that were imported have it"),
    ("function", "dynamic_matmul", "programs that were imported have it"),
    ("function", "detection_postprocess non_max_suppression lstm svdf dynamic_lstm",
     "it has several results: imported programs have it"),
    ("lowering draws", "qcast dcast", "a cast is lowered by lower-quant-ops"),
    ("lowering draws", "scast", "it is what lowering leaves at the borders"),
    ("lowering draws", "detection_postprocess non_max_suppression",
     "which boxes are compared depends on those that stay: no loop nest"),
    ("draws", "float_matmul", "its operands are floats, which tests/ir/passes/lower_qrt/test_float_matmul.py draws"),
    ("draws", "gather gather_nd argmax argmin top_k scatter_nd cumsum",
     "its positions are integers, which tests/ir/passes/lower_qrt/test_selection.py draws"),
    ("draws", _SCALAR, "its types are per layer, which tests/ops/test_pairwise.py and test_slopes.py draw"),
    ("draws", "transpose_conv2d", "its sizes go together, which tests/ops/test_transpose_conv.py draws"),
    ("draws", _FUNCTIONS, "tests/ops/test_softmax.py, test_sigmoids.py and test_lookup.py draw it"),
    ("draws", "lstm svdf", "it has several results, which tests/ops/test_recurrent.py lowers"),
    ("draws", "dynamic_matmul dynamic_lstm", "its operands are floats: tests/ops/test_dynamic.py"),
    ("cases", "reshape", "storage is moved whole, which no shape makes harder"),
    ("cases", "scast detection_postprocess non_max_suppression", "it has no kernel"),
    ("cases", "transpose concat", "storage is moved by strides, which tests/ops/test_movement.py draws"),
    ("cases", _SELECTIONS, "its own file of tests/ops draws the shapes"),
    ("cases", f"{_SCALAR} transpose_conv2d sum", "its kernel is scalar: its tests draw sizes"),
    ("cases", f"{_FUNCTIONS} lstm svdf dynamic_matmul dynamic_lstm",
     "its kernel is scalar: tests/kernels/sizes_functions.py has the sizes"),
    ("job", "matmul", "gemm"),
    ("job", "sub mul", "add"),
    ("job", "reshape transpose concat pad slice tile", "copy"),
    ("job", "gather_nd resize_nearest", "gather"),
    ("job", "reduce_max reduce_min argmax argmin", "extremum"),
    ("job", "minimum", "maximum"),
    ("job", "div squared_difference", "table"),
    ("job", "sum", "mean"),
    ("writer", "cumsum scatter_nd", "only imported programs have it: export is an error that names the op"),
    ("writer", "detection_postprocess non_max_suppression svdf", "ONNX has no such operator"),
    ("writer", "lookup_interpolated", "ONNX has no operator that interpolates a table"),
)  # fmt: skip
"""What a family may lack, the families, and why; of a `job` the family or entry whose call is the same entry of C."""
LACKS = {(part, name): reason for parts, names, reason in _ROWS for part in parts.split() for name in names.split()}
OTHER_FUNCTIONS = {
    "compile": "a program", "load": "a program", "load_program": "a file", "quantize_program": "a program",
    "parse_type": "a type", "bias_type": "a type", "float_results": "a setting", "load_tensors": "a file",
    "save_tensors": "a file", "values": "dcast", "pack": "weights of any family", "relu": "clamp", "quantize": "qcast",
}  # fmt: skip
"""What a public function is about that is no family's."""
EXTRAS = [family.declaration.article for family in FAMILIES.values() if family.declaration.article]
"""Ops outside their own dialect that name a family."""


@pytest.mark.parametrize("name", FAMILIES)
def test_a_family_is_whole(name: str) -> None:
    family = FAMILIES[name]
    assert family.declaration.public == has("function", name), "LACKS: the reason, as of all that is missing"
    if family.declaration.public:
        check_function(family)
    else:
        assert not hasattr(qrt, name), "a family that is not public has no public function"
    check_op(family)
    assert (name in LOWERINGS) == has("lowering", name), "lower_qrt/registry.py: its line"
    assert (name in DRAWS) == has("draws", name), "tests/ir/passes/lower_qrt/draw_ops.py: its programs"
    assert (name in cases.CASES) == has("cases", name), "tests/cases.py: its shapes"
    is_written = family.declaration.op in WRITERS
    assert is_written == has("writer", name), "qrt/models/onnx/exporting/writers: its operator"
    has_form = family.traits.constraint is not None
    assert has_form != (name in WITHOUT_REGIONS), "its constraint among its traits, or WITHOUT_REGIONS: the reason"
    assert (ROOT / "tests" / "ops" / f"test_{family.module}.py").exists(), "its tests"
    if family.bind is not None:
        assert LACKS.get(("job", name), name) in JOBS, "tests/kernels/jobs.py: a call"
    assert re.search(rf"`(quant\.)?{name}`", NUMERICS), "docs/numerics*.md: what it computes"
    if family.declaration.dialect == "qrt":
        assert family_row(family.declaration) in TABLE.splitlines(), "docs/reference/dialects/qrt.md: make expected"


def has(part: str, name: str) -> bool:
    return (part, name) not in LACKS


PLAIN = {
    "choice": "Literal", "integer": "int", "number": "float", "boolean": "bool", "axes": "Sequence[int]",
    "pair": "Sequence[int]", "pairs": "Sequence[Sequence[int]]",
}  # fmt: skip
"""What the function's annotation has for a kind of attribute."""
JOBS = {job[0].name for job in mixed_jobs("ref")}


def check_function(family: OpFamily) -> None:
    """The public function has the declared parameters, and its docstring says the choices."""
    declared = family.declaration
    assert declared.name in qrt.__all__, "qrt/__init__.py: its name"
    function = getattr(qrt, declared.name)
    parameters = inspect.signature(function).parameters
    assert {
        name: REQUIRED if p.default is inspect.Parameter.empty else p.default for name, p in parameters.items()
    } == parameters_of(declared)
    assert list(parameters) == list(parameters_of(declared))
    defaults = [p.default for p in parameters.values() if p.default is not inspect.Parameter.empty]
    assert all(type(default) in (type(None), bool, int, float, str, tuple) for default in defaults)
    by_position = [operand.name for operand in declared.operands if operand.size != "?"]
    by_position += [declared.result.parameter] if declared.result.required or declared.view else []
    by_position += [attribute.name for attribute in declared.attributes if attribute.positional]
    assert {name for name, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD} == set(by_position) - {""}
    for attribute in declared.attributes:
        if attribute.public:
            annotation = inspect.formatannotation(parameters[attribute.name].annotation)
            assert PLAIN[attribute.kind] in annotation.replace("collections.abc.", "")
            assert attribute.kind != "choice" or get_args(parameters[attribute.name].annotation) == attribute.choices
    words = set(re.findall(r"\w+", function.__doc__))
    for attribute in declared.attributes:
        if attribute.public:
            assert set(attribute.choices) <= words, f"the docstring of qrt.{declared.name} says the choices"


def parameters_of(declared: Declaration) -> dict[str, Any]:
    """The parameters of the public function, in order, with their defaults; the rule of a requantization, which goes
    with the type of the result, comes after it."""
    public = {
        attribute: attribute.default if attribute.given is SAME else attribute.given
        for attribute in declared.attributes
        if attribute.public
    }
    said = {declared.result.parameter: REQUIRED if declared.result.required else None}
    said = said if declared.result.parameter else {}
    return {
        **{operand.name: REQUIRED for operand in declared.operands if operand.size != "?"},
        **(said if declared.result.required else {}),
        **{attribute.name: default for attribute, default in public.items() if attribute.positional},
        **{operand.name: None for operand in declared.operands if operand.size == "?"},
        **{attribute.name: default for attribute, default in public.items() if attribute.name != "requant"},
        **said,
        **{attribute.name: default for attribute, default in public.items() if attribute.name == "requant"},
        **({} if declared.view else {"out": None}),
    }


def check_op(family: OpFamily) -> None:
    """The op of its dialect has the declared operands and attributes, and runs in the interpreter."""
    declared = family.declaration
    definition = every_definition()[declared.op]
    assert list(definition.attributes) == list(declared.defaults)
    assert [group.size for group in definition.operand_groups.declared] == [each.size for each in declared.operands]
    assert declared.op in TABLES.every_op()


def test_there_is_nothing_of_no_family() -> None:
    of_no_family = {
        "drawn": set(DRAWS) - set(FAMILIES),
        "cases": set(cases.CASES) - set(FAMILIES),
        "dialect": {name for name in every_definition() if name.startswith("qrt.")}
        - {family.declaration.op for family in FAMILIES.values()},
        "reasons": {name for _, name in LACKS} - set(FAMILIES),
        "rows": set(re.findall(r"^\| `qrt\.(\w+)`", TABLE, re.MULTILINE)) - set(FAMILIES),
    }
    assert {where: sorted(names) for where, names in of_no_family.items() if names} == {}


def test_no_two_families_have_one_name() -> None:
    modules = {import_module(f"qrt.ops.{family.module}") for family in FAMILIES.values()}
    assert sum(len(module.FAMILIES) for module in modules) == len(FAMILIES)
    assert all(family.name == name for name, family in FAMILIES.items())


def test_every_table_of_shapes_is_some_familys() -> None:
    tables = {name: value for name, value in vars(cases).items() if name.isupper() and isinstance(value, tuple)}
    used = [id(table) for table in cases.CASES.values()]
    assert [name for name, table in tables.items() if name != "_SAME" and id(table) not in used] == []
    assert all(cases.CASES.values())


@pytest.mark.parametrize("name", EXTRAS)
def test_an_op_of_articles_takes_what_its_family_takes(name: str) -> None:
    definition, declared = every_definition()[name], FAMILIES[name.removeprefix("quant.")].declaration
    assert [key for key in definition.attributes if not key.startswith("output_")] == list(declared.defaults)
    assert [group.name for group in definition.operand_groups.declared] == [each.name for each in declared.operands]


def test_every_public_function_is_a_familys_or_is_about_something_else() -> None:
    functions = {name for name in qrt.__all__ if callable(getattr(qrt, name)) and name[0].islower()}
    assert functions - set(FAMILIES) == set(OTHER_FUNCTIONS)
