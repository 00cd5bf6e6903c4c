"""The tables by which functions of operators are found. Hazards: a line that names no function, or one that a file no
longer has; a function that has no line, whose operator is refused although it is written."""

import ast
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import qrt
from qrt.models.onnx.exporting.registry import WRITERS
from qrt.models.onnx.registry import OPERATORS as ONNX
from qrt.models.onnx.registry import WIDENED
from qrt.models.tflite.registry import OPERATORS, PLAIN_OPERATORS
from qrt.registry import Registry

FOLDER = Path(qrt.__file__).parent / "models"
TABLES = {
    "tflite/operators": ("tflite", (OPERATORS, PLAIN_OPERATORS)),
    "onnx/operators": ("onnx", (ONNX, WIDENED)),
    "onnx/exporting/writers": ("onnx", (WRITERS,)),
}


def names_used(folder: Path) -> Counter[str]:
    """Count the names that the files of a folder read or import."""
    names: Counter[str] = Counter()
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Name):
                names[node.id] += 1
            elif isinstance(node, ast.Attribute):
                names[node.attr] += 1
            elif isinstance(node, ast.ImportFrom):
                names.update(alias.name for alias in node.names)
    return names


def functions_of_nodes(folder: Path) -> Iterable[tuple[str, str]]:
    """List the functions that take a node, or a group, and return nothing: the file and the name of each."""
    for path in folder.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                types = [ast.unparse(arg.annotation or ast.Constant(None)) for arg in node.args.args]
                if types in (["Node"], ["Group"]) and ast.unparse(node.returns or ast.Name("")) == "None":
                    yield path.stem, node.name


@pytest.mark.parametrize("folder", TABLES)
def test_each_line_names_a_function_and_each_function_has_a_line(folder: str) -> None:
    package, tables = TABLES[folder]
    lined = {places(table)[name] for table in tables for name in table}
    used = names_used(FOLDER / package)
    functions = {*functions_of_nodes(FOLDER / folder)}
    assert len(functions) > 20
    assert functions - lined == {function for function in functions - lined if used[function[1]]}


def places(table: Registry[Any]) -> dict[str, tuple[str, str]]:
    """Return the file and the name of each function of a table, which are loaded."""
    return {name: (function.__module__.rpartition(".")[2], function.__name__) for name, function in table.items()}
