"""The line that counts the skipped tests by what would run them, at the end of a run of the tests."""

import re
from collections import Counter
from collections.abc import Iterable

COMMANDS = {
    "make test-oracle": r"make test-oracle|mlir-opt|mlir-runner|onnxruntime|skl2onnx|ai.edge.litert|jaxlib",
    "make test-exchange": r"make test-exchange",
    "make test-kernels": r"make test-kernels",
    "make test with the models that QRT_MODELS names": r"\bmodels are not",
}
"""What runs a test that is skipped here, and how its reason names what is missing."""


def summary(reasons: Iterable[str]) -> str:
    """Return a line that counts the reasons by command, or nothing where there are none.

    >>> summary(["Skipped: onnxruntime is not installed", "Skipped: jaxlib is not installed", "Skipped: no fork"])
    'skipped tests: make test-oracle runs 2, 1 for other reasons'
    """
    counts = Counter(command_of(reason) for reason in reasons)
    parts = [f"{command} runs {counts[command]:,}" for command in COMMANDS if counts[command]]
    parts += [f"{counts[None]:,} for other reasons"] if counts[None] else []
    return f"skipped tests: {', '.join(parts)}" if parts else ""


def command_of(reason: str) -> str | None:
    """Return the command that runs a test, by the reason for which it is skipped; None where none does."""
    return next((command for command, words in COMMANDS.items() if re.search(words, reason)), None)
