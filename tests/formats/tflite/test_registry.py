"""The tables by which the file of an operator is found."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path

from qrt.formats.tflite import operators, registry


def test_each_file_registers_what_its_line_says() -> None:
    """An operator that a line lacks would be refused, and a file without a line never be found."""
    registry.load_all()
    for path in Path(operators.__file__).parent.glob("[a-z]*.py"):
        import_module(f"{operators.__name__}.{path.stem}")
    for table, found in ((operators.FILES, registry.OPERATORS), (operators.PLAIN_FILES, registry.PLAIN_OPERATORS)):
        said = {name: f"{operators.__name__}.{file}" for file, names in table.items() for name in names.split()}
        assert said == {name: function.__module__ for name, function in found.items()}


def test_only_files_of_operators_in_the_model_are_loaded() -> None:
    """Loading all of them takes longer than a small model may."""
    code = (
        "import sys, qrt\n"
        "from tests.formats.tflite.writing import Tensor, one_op\n"
        "x = Tensor((1, 4), 'int8', scales=0.5, zero_points=3)\n"
        "y = Tensor((4,), 'int8', scales=0.5, zero_points=3)\n"
        "from qrt.formats.tflite import importing, read\n"
        "from qrt.profiles import profile\n"
        "importing.import_model(read.read(one_op('RESHAPE', [x], [y], {'new_shape': [4]})), profile('litert'))\n"
        "print(*sorted(m.rpartition('.')[2] for m in sys.modules if '.tflite.operators.' in m))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["movement", "moving"]
