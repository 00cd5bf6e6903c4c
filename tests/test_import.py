"""What `import qrt` may not do: start threads, or load the IR, programs and formats, which stand behind the one lazy
border, or an optional package. A module inside the package that imports another late is found in the sources."""

import ast
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt.ir.core.registry import DIALECTS
from qrt.ir.pipeline import PASSES

PROGRAM = """
import json, sys, threading
import numpy
before = set(sys.modules)
import qrt
native = len(__import__("os").listdir("/proc/self/task")) if sys.platform == "linux" else 1
print(json.dumps({"threads": threading.active_count(), "native": native, "loaded": sorted(set(sys.modules) - before)}))
"""
LAZY = [
    "qrt.ir",
    "qrt.runtime",
    "qrt.models",
    "qrt.quantization.workflow",
    "qrt.cli",
    "ml_dtypes",
    "rich",
    "onnx",
    "matplotlib",
    "sklearn",
    "asyncio",
]


def run(program: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", **environment},
    )
    return done.stdout


def test_import_starts_no_thread_and_loads_nothing_heavy() -> None:
    # NumPy's BLAS has threads of its own.
    found = json.loads(run(PROGRAM, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1"))
    assert found["threads"] == 1
    assert found["native"] == 1
    assert [m for m in found["loaded"] if any(m == lazy or m.startswith(f"{lazy}.") for lazy in LAZY)] == []


def test_a_cast_and_a_matmul_load_no_more_of_qrt_and_no_extra_formats() -> None:
    loaded = run("import qrt, sys; before = {*sys.modules}; t = qrt.UniformType('i8', 'f32', 1.0); "
                 "q = qrt.quantize([[1.0]], t); q @ q; print('ml_dtypes' in sys.modules); "
                 "print(*(name for name in {*sys.modules} - before if name.startswith('qrt')))").split()  # fmt: skip
    assert loaded[0] == "False"
    assert not [name for name in loaded[1:] if name.startswith(("qrt.ir", "qrt.runtime"))]


def test_import_and_calls_leave_no_variable_in_the_context() -> None:
    """Each call of NumPy would look it up among them."""
    left = run("import contextvars, qrt; t = qrt.UniformType('i8', 'f32', 1.0); q = qrt.quantize([[1.0]], t); q @ q; "
               "qrt.compile('func.func @f(%x: f32) -> f32 { %0 = arith.addf %x, %x : f32 return %0 : f32 }')(1.0); "
               "print([variable.name for variable in contextvars.copy_context()])")  # fmt: skip
    assert left.strip() == "[]"


def test_every_public_name_exists() -> None:
    """Lazy names included."""
    run("import qrt; [getattr(qrt, name) for name in qrt.__all__]; assert set(qrt.__all__) <= set(dir(qrt))")


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert run("import qrt; print(hasattr(qrt, 'nothing'))").strip() == "False"


SAVED = """
import sys
import numpy, qrt
program, x = qrt.load_program(sys.argv[1]), numpy.int8([1, 2])
print(program(x).storage.tolist(), program.run({"x": x})["y"].storage.tolist())
program.bind({"x": x})()
print(program.inputs, program, *(name for name in sys.modules if name.startswith("qrt.")), sep="\\n")
"""
BYTES = "!quant.uniform<i8:f32, 0.5>"
STATEFUL = f"""ml_program.global private mutable @last(dense<0> : tensor<2xi8>) : tensor<2xi8>
func.func @main(%x: tensor<2xi8> {{qrt.name = "x"}}) -> (tensor<2x{BYTES}> {{qrt.name = "y"}}) {{
  %0 = ml_program.global_load @last : tensor<2xi8>
  ml_program.global_store @last = %x : tensor<2xi8>
  %1 = quant.scast %0 : tensor<2xi8> to tensor<2x{BYTES}>
  return %1 : tensor<2x{BYTES}>
}}"""
DYNAMIC = f"""func.func @main(%x: tensor<?x{BYTES}> {{qrt.name = "x"}}) -> (tensor<?x{BYTES}> {{qrt.name = "y"}}) {{
  %0 = qrt.add %x, %x : (tensor<?x{BYTES}>, tensor<?x{BYTES}>) -> tensor<?x{BYTES}>
  return %0 : tensor<?x{BYTES}>
}}"""


@pytest.mark.parametrize(("text", "results"), [(STATEFUL, "[0, 0] [1, 2]"), (DYNAMIC, "[2, 4] [2, 4]")])
def test_a_saved_program_runs_without_the_ir_and_the_planner(text, results, tmp_path) -> None:
    """Hazard: one import in a module of the runtime brings back the hundred that a saved program does not need, and its
    first result comes after 60 ms instead of 10."""
    program = qrt.compile(text)
    program(np.int8([1, 2]))
    program.save(tmp_path / "p.qrt")
    first, *loaded = run(SAVED, str(tmp_path / "p.qrt")).splitlines()
    assert first == results
    assert [name for name in loaded if name.startswith("qrt.ir")] == []
    parts = {name.removeprefix("qrt.runtime.").partition(".")[0] for name in loaded if name.startswith("qrt.runtime.")}
    planning = {"build", "fusion", "functions", "interpreter", "module_source", "operations", "planner", "prepare"}
    assert {path.stem for path in (ROOT / "qrt" / "runtime").iterdir()} >= planning
    assert parts & planning == set()
    assert "saved" in parts
    assert len([name for name in loaded if name.startswith("qrt.runtime")]) < 24


RUN = """
import sys
from qrt.cli import main
sys.exit(main(sys.argv[1:]) or print("LOADED", *sys.modules))
"""


def test_a_run_loads_the_dialects_it_names_and_the_passes_it_runs(tmp_path) -> None:
    """Start-up is what a small program costs most of."""
    program = tmp_path / "f.mlir"
    program.write_text("func.func @f(%x: f32) -> f32 { %0 = arith.negf %x : f32  return %0 : f32 }")
    output = run(RUN, "run", str(program), "--input-value", "arg0=f32=1").splitlines()
    loaded = {name for name in output[-1].split() if name.startswith("qrt.")}
    assert not {"qrt.cli.opt", "qrt.cli.bench"} & loaded
    passes = {kind.partition(":")[0] for kind in PASSES._entries.values() if isinstance(kind, str)}
    passes |= {kind.__module__ for kind in PASSES._entries.values() if isinstance(kind, type)}
    passes.discard("qrt.ir.pipeline")  # an example in its docstring registers a pass, where that has run
    assert passes & loaded == {"qrt.ir.passes.inline_regions", "qrt.runtime.constant_fold"}
    interpreters = {name.removeprefix("qrt.runtime.interpreter.") for name in loaded if "interpreter." in name}
    assert interpreters == {"core", "buffers", "arith", "ml_program"}  # the planner looks for globals
    assert {"qrt.ir.dialects.func.ops", "qrt.ir.dialects.arith.ops"} <= loaded
    assert not [name for name in loaded if "canonicalize" in name]
    assert not {"qrt.ir.dialects.linalg.ops", "qrt.ir.dialects.vector.ops", "qrt.ir.dialects.memref.ops"} & loaded


DEFERRED = {
    "qrt/cli/terminal.py: rich.console": "an extra",
    "qrt/cli/terminal.py: rich.progress": "an extra",
    "qrt/models/tflite/read.py: ml_dtypes": "an extra",
    "qrt/numerics/conversions.py: ml_dtypes": "an extra",
    "qrt/runtime/compilation.py: qrt.runtime.codegen.source": "it imports an extra",
    "qrt/runtime/saved/source.py: qrt.runtime.module_source": "a saved program runs without the IR and the planner",
    "qrt/registry.py: importlib.metadata": "it reads mail headers, which takes a tenth of what all of qrt takes",
}
"""Imports inside of functions, each with its reason."""
BY_NAME = {
    "qrt/__init__.py": "the lazy border",
    "qrt/extras.py": "extras",
    "qrt/registry.py": "what every table uses",
}
"""The files that import modules by their names as text."""
ROOT = Path(__file__).parents[1]
SOURCES = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text()) for path in (ROOT / "qrt").rglob("*.py")}


def imports(node: ast.AST) -> Iterator[str]:
    """Yield the modules that a node imports."""
    for part in ast.walk(node):
        if isinstance(part, ast.Import):
            yield from (alias.name for alias in part.names)
        elif isinstance(part, ast.ImportFrom):
            yield part.module or ""


def test_imports_stand_at_the_head_of_the_file() -> None:
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    late = {
        f"{name}: {module}"
        for name, tree in SOURCES.items()
        for node in ast.walk(tree)
        if isinstance(node, functions)
        for module in imports(node)
    }
    assert late == set(DEFERRED)


def test_one_module_has_attributes_that_it_loads_and_one_finds_modules_by_text() -> None:
    lazy = [
        name
        for name, tree in SOURCES.items()
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "__getattr__"
    ]
    assert lazy == ["qrt/__init__.py"]
    names = {"import_module", "iter_modules", "find_spec", "__import__"}
    found = {
        name
        for name, tree in SOURCES.items()
        for node in ast.walk(tree)
        if (isinstance(node, ast.ImportFrom) and names & {alias.name for alias in node.names})
        or (isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node).rpartition(".")[2] in names)
    }
    assert found == set(BY_NAME)


def test_no_module_inside_imports_the_package() -> None:
    """Whose `__init__` imports most of them: `from qrt import kernels` is one of `qrt.kernels` and of `qrt`."""
    inside = {name: [module for module in imports(tree) if module == "qrt"] for name, tree in SOURCES.items()}
    assert [name for name, modules in inside.items() if modules] == ["qrt/__init__.py"]


DIALECT = """
from qrt.ir.core import registry
registry.load({name!r})
for definition in [*registry.DEFINITIONS.values()]:
    definition.assembly, definition.operand_groups, definition.result_groups
    print(definition.name)
"""


@pytest.mark.parametrize("name", DIALECTS.own)
def test_a_dialect_needs_no_other_to_be_loaded(name) -> None:
    """Names of constraints, of attribute kinds and of directives are found where another dialect is what made them."""
    assert run(DIALECT.format(name=name)).split()


def test_what_prints_and_parses_is_found_where_nothing_loaded_it() -> None:
    """A program that was built prints each operation, and the whole, in a process that has read no text."""
    program = """
import sys
from qrt import ir
module = ir.Module()
b = ir.Builder(module)
with b.function("twice", ["f32"]) as (x,):
    b.func.return_(b.arith.addf(x, x))
function = module.functions[0]
print(str(function.regions[0].blocks[0].last), "|", "arith.addf %" in str(module), module == ir.parse(str(module)))
"""
    assert run(program).split("|")[1].split() == ["True", "True"]


def test_sources_that_are_not_compiled_say_what_to_do(tmp_path: Path) -> None:
    """They stand before an installed qrt where Python is run beside them."""
    package = Path(qrt.__file__).parent
    shutil.copytree(package, tmp_path / "qrt", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    done = subprocess.run(
        [sys.executable, "-c", "import qrt"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={"PATH": ""},
    )
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith(
        f"ImportError: {tmp_path / 'qrt'} holds qrt's sources, and no modules compiled for this Python."
    )
    for advice in ("run Python from another folder, or as `python -P`", f"pip install --editable {tmp_path}"):
        assert advice in error
