"""qrt beside LiteRT on generated models: see `tests.models.beside`.

    python -m tests.models.tflite.oracle [--elements N] [--seed N] [--interpret] [WORD ...]

compares the forms whose name begins with one of the words, and prints the table. With ``--interpret`` the plain
references run instead of the kernels.
"""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from qrt.models.engines.litert import LiteRT
from tests.models.beside import ELEMENTS_IN_TESTS, Case, Form, Row, compared, forms_of, inputs_of, main, model_row

__all__ = [
    "ELEMENTS_IN_TESTS",
    "MODELS",
    "PROFILES",
    "ROWS",
    "Case",
    "Form",
    "Row",
    "compared",
    "forms",
    "inputs_of",
    "model_row",
]

MODELS = Path(os.environ.get("QRT_MODELS") or Path(__file__).parents[4] / "shared" / "models")
"""The folder of model files."""
PROFILES = ("litert", "litert-ref")
ROWS: list[Row] = []
"""What the tests of this run have compared."""


def forms() -> Iterator[tuple[str, Form, str]]:
    """Each form with its name, once for each profile that has it."""
    return forms_of(Path(__file__).with_name("generated"), PROFILES)


if __name__ == "__main__":
    sys.exit(main(__doc__, forms(), LiteRT))
