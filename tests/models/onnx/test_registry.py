"""The tables by which the file of an operator is found."""

import subprocess
import sys

from qrt.models.onnx.registry import OPERATORS
from tests.models.onnx.one_of_each import models
from tests.models.onnx.running import imported


def test_a_model_loads_the_package_onnx_and_the_files_of_its_operators_alone() -> None:
    code = (
        "import sys, qrt, qrt.models.programs\n"
        "assert 'onnx' not in sys.modules\n"
        "from tests.models.onnx.test_read import reshaping\n"
        "from tests.models.onnx.running import imported\n"
        "imported(reshaping())\n"
        "print(*sorted(m.rpartition('.')[2] for m in sys.modules if '.onnx.operators.' in m))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["movement", "operands"]


def test_each_operator_has_a_small_model() -> None:
    """From which `variants` and the fuzzer make others. It is imported."""
    assert models().keys() >= OPERATORS.keys()
    for key in OPERATORS:
        imported(models()[key])
