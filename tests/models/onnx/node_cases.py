"""The node tests of the package `onnx`, each run by `qrt.models.onnx.backend`, and the operators that have a form.

    python -m tests.models.onnx.node_cases [WORD ...]

runs the cases whose name has one of the words, and prints those that differ, then how many passed, were refused and
differed. The status is 1 if any differs.
"""

import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
from onnx import defs, numpy_helper
from onnx.backend.test.case import node as cases
from onnx.backend.test.case import utils

from qrt.errors import QuantError
from qrt.models.onnx import backend
from qrt.models.onnx.registry import OPERATORS

AS_THE_RUNTIME = {
    "test_dft_inverse": "sums that cancel, with a tolerance of 1e-7: the runtime is further off",
    "test_dft_inverse_opset19": "sums that cancel, with a tolerance of 1e-7: the runtime is further off",
    "test_resize_downsample_scales_cubic_align_corners": "sizes of align_corners that are no whole numbers",
    "test_resize_downsample_scales_linear_align_corners": "sizes of align_corners that are no whole numbers",
}
"""Cases in which ONNX Runtime also gives other results than the package, and why."""
OUT_OF_SCOPE = {
    "ConcatFromSequence": "sequences", "ImageDecoder": "encoded images", "Multinomial": "random numbers",
    "Optional": "optional values", "OptionalGetElement": "optional values", "OptionalHasElement": "optional values",
    "RegexFullMatch": "texts", "TfIdfVectorizer": "texts", "Bernoulli": "random numbers",
    **dict.fromkeys(("RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"), "random numbers"),
    **dict.fromkeys(("SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert",
                     "SequenceLength", "SequenceMap", "SplitToSequence"), "sequences"),
    **dict.fromkeys(("StringConcat", "StringNormalizer", "StringSplit"), "texts"),
}  # fmt: skip
"""Operators of ONNX's own domain whose values a program does not have."""

UNITS = {"float16": 2.0**-9, "bfloat16": 2.0**-6}
"""Two units in the last place: a chain of 16-bit operators is rounded at its end, as in ONNX Runtime. The package
rounds each step, and its tolerance is less than one unit."""


@cache
def collected() -> tuple[Any, ...]:
    """Every case."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        utils.import_recursive(cases)
    return tuple(cases._NodeTestCases)


def outcome(case: Any) -> str:
    """Return "passed", "refused", or "differs" and the reason."""
    try:
        prepared = backend.Backend.prepare(case.model)
        results = [prepared.run(list(inputs)) for inputs, _ in case.data_sets]
    except QuantError:
        return "refused"
    for arrays, (_, expected) in zip(results, case.data_sets, strict=True):
        for ours, theirs in zip(arrays, expected, strict=True):
            array = numpy_helper.to_array(theirs) if hasattr(theirs, "SerializeToString") else np.asarray(theirs)
            if (ours.shape, ours.dtype) != (array.shape, array.dtype):
                return f"differs: {ours.dtype}{ours.shape} instead of {array.dtype}{array.shape}"
            rtol = max(case.rtol, UNITS.get(ours.dtype.name, 0))
            wide = [np.asarray(values).astype(np.float64) for values in (ours, array)]
            if not np.allclose(*wide, rtol=rtol, atol=case.atol, equal_nan=True):
                return "as the runtime" if case.name in AS_THE_RUNTIME else "differs: other numbers"
    return "passed"


def missing() -> Iterator[str]:
    """The operators of ONNX's own domain that are in scope and have no form that runs."""
    names = {schema.name for schema in defs.get_all_schemas() if not schema.domain}
    return iter(sorted(names - OPERATORS.keys() - OUT_OF_SCOPE.keys()))


def main(words: list[str]) -> int:
    outcomes = {}
    for case in collected():
        if not words or any(word in case.name for word in words):
            outcomes[case.name] = outcome(case)
    wrong = {name: text for name, text in outcomes.items() if text.startswith("differs")}
    for name, text in wrong.items():
        print(f"{name}: {text}")
    print(dict(Counter(text.partition(":")[0] for text in outcomes.values())))
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
