"""The tables by which the file of an operator is found."""

import subprocess
import sys

from qrt.models.tflite.operands import OPERANDS
from qrt.models.tflite.registry import OPERATORS, PLAIN_OPERATORS


def test_only_files_of_operators_in_the_model_are_loaded() -> None:
    """Loading all of them takes longer than a small model may."""
    code = (
        "import sys, qrt\n"
        "from tests.models.tflite.writing import Tensor, one_op\n"
        "x = Tensor((1, 4), 'int8', scales=0.5, zero_points=3)\n"
        "y = Tensor((4,), 'int8', scales=0.5, zero_points=3)\n"
        "from qrt.models.tflite import importing, read\n"
        "from qrt.models.profiles import profile\n"
        "importing.import_model(read.read(one_op('RESHAPE', [x], [y], {'new_shape': [4]})), profile('litert'))\n"
        "print(*sorted(m.rpartition('.')[2] for m in sys.modules if '.tflite.operators.' in m))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["movement", "operands"]


def test_each_operator_has_its_operands_checked() -> None:
    """Hazard: a file that gives an operator too few operands reaches its importer, which fails in Python's words."""
    assert sorted({*OPERATORS, *PLAIN_OPERATORS} - OPERANDS.keys()) == []
