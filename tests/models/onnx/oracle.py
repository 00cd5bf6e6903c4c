"""qrt beside ONNX Runtime on generated models: see `tests.models.beside`.

    python -m tests.models.onnx.oracle [--elements N] [--seed N] [--interpret] [WORD ...]

compares the forms whose name begins with one of the words, and prints the table. With ``--interpret`` the plain
references run instead of the kernels.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from qrt.models.engines.ort import OnnxRuntime
from tests.models.beside import ELEMENTS_IN_TESTS, Case, Form, Row, compared, forms_of, main, model_row

__all__ = ["ELEMENTS_IN_TESTS", "ROWS", "Case", "Form", "Row", "compared", "forms", "model_row"]

ROWS: list[Row] = []
"""What the tests of this run have compared."""


def forms() -> Iterator[tuple[str, Form, str]]:
    """Each form with its name and the profile."""
    return forms_of(Path(__file__).with_name("generated"), ("ort",))


if __name__ == "__main__":
    sys.exit(main(__doc__, forms(), OnnxRuntime))
