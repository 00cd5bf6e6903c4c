"""The operators of the schema that LiteRT's CPU resolver registers, kept in `registered.txt`.

    python -m tests.models.tflite.registered           # asks LiteRT for each operator, and writes the file

Each operator is asked for in a process of its own, because LiteRT may crash on a model without the operator's options.
"""

import multiprocessing
from importlib.metadata import version
from pathlib import Path

from qrt.models.tflite import schema
from tests.models.tflite.writing import Tensor, one_op

FILE = Path(__file__).with_name("registered.txt")
_VERSIONS = (1, 2)
"""The versions of an operator one of which LiteRT has if it has the operator."""
_SECONDS = 30


def registered() -> list[str]:
    """Return the names in the file."""
    return [line for line in FILE.read_text().splitlines() if not line.startswith("#")]


def _load(name: str, number: int) -> None:
    """Load a model of the operator. Exit with status 1 if LiteRT does not have it."""
    from ai_edge_litert.interpreter import Interpreter

    x, y = Tensor((2,), "float32"), Tensor((2,), "float32")
    try:
        Interpreter(model_content=one_op(name, [x], [y], version=number))
    except (RuntimeError, ValueError) as error:
        raise SystemExit(int("Didn't find op" in str(error))) from None


def is_registered(name: str) -> bool:
    """Return True if LiteRT has the operator in one of the first versions."""
    for number in _VERSIONS:
        process = multiprocessing.Process(target=_load, args=(name, number))
        process.start()
        process.join(_SECONDS)
        if process.exitcode != 1:
            return True
    return False


def main() -> None:
    """Write the file."""
    names = [name for name in schema.operators() if name != "CUSTOM" and is_registered(name)]
    head = f"# ai-edge-litert {version('ai-edge-litert')}; written by python -m tests.models.tflite.registered"
    FILE.write_text("\n".join([head, *sorted(names), ""]))


if __name__ == "__main__":
    main()
