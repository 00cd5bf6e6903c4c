"""Every public name says what it is, its options and errors, and has an example that runs."""

import builtins
import doctest
import inspect
import re
import types
from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest

from qrt import errors, runtime
from qrt.ir.core.registry import DIALECTS
from qrt.ir.pipeline import PASSES
from qrt.quantization.targets.registry import TARGETS
from qrt.registry import Registry
from tests.docs.documents import ROOT, blocks
from tests.reference.api_page import MODULES

NAMES = [
    (f"{module.__name__}.{name}", getattr(module, name))
    for module in MODULES
    for name in module.__all__
    if name != "__version__" and not isinstance(getattr(module, name), types.ModuleType)
]
FUNCTIONS = [(name, value) for name, value in NAMES if not isinstance(value, type)]
CLASSES = [(name, value) for name, value in NAMES if isinstance(value, type)]
NEVER_FAIL = {"qrt.kernels.available", "qrt.kernels.coverage", "qrt.ir.equal", "qrt.errors.diagnostics"}
"""Functions that take no argument, or any of its type."""
CONSTRUCTED = {"qrt.QuantTensor", "qrt.PackedTensor", "qrt.Program", "qrt.UniformType", "qrt.AnyQuantizedType"} | {
    "qrt.CalibratedType", "qrt.TensorType", "qrt.ir.Module", "qrt.ir.Definition", "qrt.ir.Operation",
    "qrt.quantization.targets.TargetPort", "qrt.quantization.targets.TargetKernel", "qrt.quantization.targets.Target",
}  # fmt: skip
"""Classes whose parameters are options, as a function's are; the others have their fields for parameters."""
FIRST = re.compile(r"[`A-Z!].*?\.(?=\s|$)", re.DOTALL)
SECTION = r"^{}\n-+\n(.*?)(?=^\w+\n---|\Z)"


def docstring(value: Any) -> str:
    """Its own, not one that is inherited."""
    return inspect.cleandoc(vars(value).get("__doc__") or "" if isinstance(value, type) else value.__doc__ or "")


def section(text: str, title: str) -> dict[str, str]:
    """The entries of a section of a docstring, as numpydoc reads them: of each name its type, if any, and what is said
    below."""
    found = re.search(SECTION.format(title), text, re.MULTILINE | re.DOTALL)
    entries = re.split(r"^(?=\S)", found[1].strip() if found else "", flags=re.MULTILINE)
    heads = [(entry.partition("\n")[0].partition(" : "), entry) for entry in entries if entry]
    return {name.strip(): entry for (names, _, _), entry in heads for name in names.split(",")}


def literals(annotation: Any) -> Iterator[Any]:
    """The values of every Literal in an annotation."""
    for part in get_args(annotation):
        yield from get_args(annotation) if get_origin(annotation) is Literal else literals(part)


@pytest.mark.parametrize("module", [*MODULES, runtime], ids=lambda module: module.__name__)
def test_dir_shows_public_names_only(module: types.ModuleType) -> None:
    assert dir(module) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


@pytest.mark.parametrize(("name", "value"), NAMES)
def test_a_name_has_a_sentence_and_an_example(name: str, value: Any) -> None:
    text = docstring(value)
    assert FIRST.match(text), f"{name} begins with no sentence"
    assert doctest.DocTestParser().get_examples(text), f"{name} has no example"


@pytest.mark.parametrize(("name", "value"), FUNCTIONS + [each for each in CLASSES if each[0] in CONSTRUCTED])
def test_a_function_says_each_parameter_and_its_values(name: str, value: Any) -> None:
    entries = section(docstring(value), "Parameters")
    parameters = inspect.signature(value).parameters
    assert list(entries) == list(parameters)
    for parameter in parameters.values():
        said, default = entries[parameter.name], parameter.default
        assert len(said.splitlines()) > 1, f"{name}: nothing is said of {parameter.name}"
        assert all(f'"{each}"' in said for each in literals(parameter.annotation)), (
            f"{name}: values of {parameter.name}"
        )
        if default is not parameter.empty:
            assert f"default {default!r}".replace("'", '"') in said or "optional" in said, (
                f"{name}: the default of {parameter.name}"
            )


@pytest.mark.parametrize(("name", "value"), FUNCTIONS)
def test_a_function_says_what_it_raises(name: str, value: Any) -> None:
    raised = section(docstring(value), "Raises")
    assert bool(raised) == (name not in NEVER_FAIL)
    for error, condition in raised.items():
        assert issubclass(getattr(errors, error, getattr(builtins, error, int)), Exception), error
        assert len(condition.splitlines()) > 1


@pytest.mark.parametrize(("name", "value"), CLASSES)
def test_a_member_of_a_class_says_what_it_is(name: str, value: Any) -> None:
    members = {key: member for key, member in vars(value).items() if not key.startswith("_")}
    described = {key: getattr(member, "func", member) for key, member in members.items() if is_described(member)}
    assert [key for key, member in described.items() if not inspect.getdoc(getattr(value, key, member))] == []


@pytest.mark.parametrize(
    ("function", "table"),
    [
        ("qrt.ir.register_pass", PASSES),
        ("qrt.ir.register_dialect", DIALECTS),
        ("qrt.quantization.targets.register_target", TARGETS),
    ],
)
def test_a_docstring_names_the_group_of_entry_points(function: str, table: Registry[Any]) -> None:
    """Hazard: a group that nothing reads, so that an installed package stays unknown."""
    assert f"``{table._group}``" in docstring(dict(NAMES)[function])


def is_described(member: Any) -> bool:
    return callable(member) or isinstance(member, (property, staticmethod, classmethod)) or hasattr(member, "func")


def forget_what_examples_register() -> None:
    """Another name of the same function has the same example."""
    PASSES._entries.pop("mine-make-private", None)


def test_examples_run_after_the_imports_that_the_page_shows() -> None:
    (imports,) = blocks((ROOT / "docs" / "reference" / "api.md").read_text(), "python")
    shown: dict[str, Any] = {}
    exec(imports, shown)
    runner, parser = doctest.DocTestRunner(verbose=False), doctest.DocTestParser()
    for name, value in NAMES:
        forget_what_examples_register()
        runner.run(parser.get_doctest(docstring(value), dict(shown), name, None, 0))
    forget_what_examples_register()
    assert runner.summarize(verbose=False).failed == 0
