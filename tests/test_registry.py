"""One op family is found in many places: the dialect, the functions, the lowerings, the shapes of tests and benches.
What is missing in one of them, or is there and has no family, fails here, unless a reason is stated."""

import inspect
from typing import Any

import pytest

import qrt
from qrt import cases, ops
from qrt.execute.interpret.qrt import HANDLERS
from qrt.execute.operations import family_name
from qrt.ir import Operation
from qrt.ir.core.define import Definition
from qrt.ir.core.registry import every_definition
from qrt.ops import FAMILIES
from qrt.passes.lower_qrt import LOWERINGS
from tests.passes.lower_qrt.draw_ops import DRAWS

NOT_LOWERED = {"qcast": "a cast is lowered by lower-quant-ops", "dcast": "a cast is lowered by lower-quant-ops"}
WITHOUT_CASES = {
    "reshape": "storage is moved whole, which no shape makes harder",
    "transpose": "storage is moved by strides, which tests/ops/test_movement.py draws",
    "concat": "storage is moved by strides, which tests/ops/test_movement.py draws",
}
NOT_DRAWN = {"float_matmul": "its operands are floats, which tests/passes/lower_qrt/test_float_matmul.py draws"}
OTHER_FUNCTIONS = {
    "compile": "a program", "load": "a program", "run_passes": "a program", "parse_type": "a type",
    "get_num_threads": "a setting", "set_num_threads": "a setting",
    "pack": "weights of any family", "scast": "moves no bits", "relu": "clamp", "quantize": "qcast",
}  # fmt: skip
"""What a public function is about that is no family's."""
EXTRAS = {"quant.qcast", "quant.dcast", "quant.conv2d", "quant.matmul"}
"""Ops outside the dialect `qrt` that name a family."""
DEFINITIONS = {name: d for name, d in every_definition().items() if name.startswith("qrt.") or name in EXTRAS}


def family_of(name: str) -> ops.OpFamily:
    found = family_name(Operation(name))
    assert found is not None
    return FAMILIES[found]


def test_no_two_families_have_one_name() -> None:
    assert sum(len(module.FAMILIES) for module in ops._MODULES) == len(FAMILIES)
    assert all(family.name == name for name, family in FAMILIES.items())


@pytest.mark.parametrize(
    ("there", "reasons"),
    [
        (LOWERINGS, NOT_LOWERED),
        (cases.CASES, WITHOUT_CASES),
        (DRAWS, NOT_DRAWN | NOT_LOWERED),
        ({name.removeprefix("qrt.") for name in DEFINITIONS if name not in EXTRAS}, NOT_LOWERED),
        ({name.removeprefix("qrt.") for name in HANDLERS}, {}),
        ({name for name in qrt.__all__ if name in FAMILIES}, {}),
    ],
    ids=["lowerings", "cases", "drawn", "dialect", "interpreter", "functions"],
)
def test_every_family_is_there_or_has_a_reason(there: Any, reasons: dict[str, str]) -> None:
    lacking = set(FAMILIES) - set(there)
    assert lacking <= set(reasons), f"missing: {sorted(lacking - set(reasons))}"
    assert set(there) <= set(FAMILIES), f"of no family: {sorted(set(there) - set(FAMILIES))}"
    assert not set(reasons) & set(there) - {"qcast", "dcast"}, "a reason for what is there"


def test_every_table_of_shapes_is_some_familys() -> None:
    tables = {name: value for name, value in vars(cases).items() if name.isupper() and isinstance(value, tuple)}
    used = [id(table) for table in cases.CASES.values()]
    assert [name for name, table in tables.items() if name != "_SAME" and id(table) not in used] == []
    assert all(cases.CASES.values())


@pytest.mark.parametrize("name", DEFINITIONS)
def test_an_op_takes_what_its_family_takes(name: str) -> None:
    definition, family = DEFINITIONS[name], family_of(name)
    own = {key for key in definition.attributes if not key.startswith("output_")}
    assert own == set(family.attributes)
    assert sizes(definition) == [
        "*" if family.variadic else "?" if i >= len(family.operands) - family.optional else ""
        for i in range(len(family.operands))
    ]
    assert len(definition.results) == 1


def sizes(definition: Definition) -> list[str]:
    return [group.size for group in definition.operand_groups.declared]


@pytest.mark.parametrize("name", FAMILIES)
def test_a_function_takes_what_its_family_takes(name: str) -> None:
    """Attributes by their names; a default of the family is one of the function, but where it has a better word."""
    parameters = inspect.signature(getattr(qrt, name)).parameters
    family = FAMILIES[name]
    if name in ("add", "sub"):  # whose rule has no choice
        assert "requant" not in parameters
        return
    assert set(family.attributes) <= set(parameters)
    for key, default in family.attributes.items():
        given = parameters[key].default
        words = {"padding": "VALID", "strides": None, "kernel": inspect.Parameter.empty}
        assert given == default or given == words.get(key, default) or given is inspect.Parameter.empty, key


def test_every_public_function_is_a_familys_or_is_about_something_else() -> None:
    functions = {name for name in qrt.__all__ if callable(getattr(qrt, name)) and name[0].islower()}
    assert functions - set(FAMILIES) == set(OTHER_FUNCTIONS)
