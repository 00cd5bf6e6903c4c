"""The tables by which the file of an operator is found."""

import subprocess
import sys

from qrt.formats.onnx import operators, registry
from tests.formats.onnx.one_of_each import models
from tests.formats.onnx.running import imported


def test_each_file_registers_what_its_line_says() -> None:
    """An operator that a line lacks would be refused."""
    registry.load_all()
    said = {key: f"{operators.__name__}.{file}" for file, keys in operators.FILES.items() for key in keys.split()}
    assert said == {key: function.__module__ for key, function in registry.OPERATORS.items()}


def test_a_model_loads_the_package_onnx_and_the_files_of_its_operators_alone() -> None:
    code = (
        "import sys, qrt, qrt.formats.programs\n"
        "assert 'onnx' not in sys.modules\n"
        "from tests.formats.onnx.test_read import reshaping\n"
        "from tests.formats.onnx.running import imported\n"
        "imported(reshaping())\n"
        "print(*sorted(m.rpartition('.')[2] for m in sys.modules if '.onnx.operators.' in m))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["movement", "operands"]


def test_each_operator_has_a_small_model() -> None:
    """From which `variants` and the fuzzer make others. It is imported."""
    names = {key for keys in operators.FILES.values() for key in keys.split()}
    assert models().keys() >= names
    for key in names:
        imported(models()[key])
