"""Names in error messages of operations. Hazard: an error names an operand otherwise than its caller writes it."""

import ast
import re
from pathlib import Path

import pytest

import qrt.ops
from qrt.ops import FAMILIES
from qrt.ops.checks import spell_shape
from qrt.ops.lstm import operand_names

FOLDER = Path(qrt.ops.__file__).parent
MODULES = sorted({family.module for family in FAMILIES.values()})
NAMED = re.compile(r"'([a-z_]+)'(?= (?:must|cannot|and '))")
OPTIONS = ("cifg", "peepholes", "layer_norm", "projection")


def names_of(module: str) -> set[str]:
    """Return the names of the operands, attributes and results of the families of a module."""
    declared = [family.declaration for family in FAMILIES.values() if family.module == module]
    names = {name for d in declared for name in (*(o.name for o in d.operands), *d.by_name, *d.results)}
    return names | set(operand_names(dict.fromkeys(OPTIONS, False), 15)) if module == "lstm" else names


@pytest.mark.parametrize("module", MODULES)
def test_what_a_message_names_is_declared(module: str) -> None:
    tree = ast.parse((FOLDER / f"{module}.py").read_text())
    strings = [n.value for n in ast.walk(tree) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
    named = {name for text in strings for name in NAMED.findall(text)}
    operands = {
        argument.value
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        for argument in call.args[2:4]
        if call.func.id in ("quantized", "any_element", "ranked_shape", "shape_of_rank", "shape_of_least_rank")
        and isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and argument.value.isidentifier()
    }
    assert named | operands <= names_of(module)


def test_a_shape_is_spelled_with_its_dynamic_sizes() -> None:
    assert [spell_shape(shape) for shape in ((), (3,), (2, None, 0))] == ["[]", "[3]", "[2, ?, 0]"]
