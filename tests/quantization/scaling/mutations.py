"""Breaks one rule of the optional passes at a time: tests must fail. By hand, in minutes:

    python -m tests.quantization.scaling.mutations [WORD ...]

Only changes of files whose path has one of the words. The tests run in a copy of the repository. Prints for each change
which test caught it; the status is 1 if there are changes that no test catches.
"""

import re
from pathlib import Path

from tests.source_changes import main, pytest_in

HERE = "tests/quantization/scaling"
TESTS = (
    f"{HERE}/test_fold_scales.py",
    f"{HERE}/test_equalize_scales.py",
    "tests/quantization/tuning/test_bias_correction.py",
    "tests/quantization/tuning/test_optional_passes.py",
)
SCALING = "qrt/quantization/scaling"
AFFINE, BETWEEN, BIASES, FOLD, PRODUCTS = (
    f"{SCALING}/{name}.py" for name in ("affine", "product_pairs", "biases", "fold", "products")
)
TRAITS, EQUALIZE = "qrt/ops/traits.py", "qrt/quantization/scaling/equalize_scales.py"
BIAS, GAINS = "qrt/quantization/tuning/bias_correction.py", "qrt/quantization/tuning/optional_passes.py"

CHANGES = [
    # Steps.
    (AFFINE, "if not (numbers == first).all():", "if False:"),
    (AFFINE, "if not np.isfinite(numbers).all():", "if False:"),
    (AFFINE, 'if self.kind != "add" and not numbers.all():', "if False:"),
    (AFFINE, 'last = AffineStep("add", -number if is_first else number)', 'last = AffineStep("add", -number)'),
    (AFFINE, "array = array.transpose(np.argsort(result_axes))", "array = array.transpose(result_axes)"),
    (AFFINE, "            return rounded(arrays[0], self.element)", "            return arrays[0]"),
    # Folding.
    (FOLD, "affine is None or (product.form.low, product.form.high) != (None, None)", "affine is None"),
    (FOLD, "step.channels(rank - 1, weights.shape[axis])", "step.channels(rank - 1, weights.shape[axis])[::-1]"),
    (FOLD, "bias = None if bias is None else _applied(", "bias = bias if True else _applied("),
    (FOLD, "if not is_normal(result, element).all() or ((result == 0)", "if ((result == 0)"),
    (FOLD, "        if bias is not None and product.bias is None:", "        if False:"),
    (FOLD, 'any(step.kind == "add" for step in affine.chain.steps)', "False"),
    (FOLD, "            copy.set_operand(0, start)", "            pass"),
    (FOLD, "and has_open_constants(product)):", "):"),
    (FOLD, "specs[number] = affine.spec(affine.source)", "pass"),
    # What is between two products.
    (BETWEEN, "return low in (None, 0.0) and high is None", "return low in (None, 0.0)"),
    (TRAITS, 'attributes["axes"] is None or axis in attributes["axes"]', "False"),
    (TRAITS, 'sum(other < axis for other in attributes["axes"])', "0"),
    (BETWEEN, "return where if keeps_shape and _is_homogeneous(region, number) else None", "return where"),
    (BETWEEN, "fits = second.channel_axis == where.axis", "fits = True"),
    (BETWEEN, 'single_user(value, ("quant.stats_ref",))', 'single_user(value, ("quant.stats_ref", "quant.stats"))'),
    # Equalization.
    (EQUALIZE, "np.floor_divide(e2 - e1 + (m2 >= m1), 2)", "np.floor_divide(e2 - e1, 2)"),
    (EQUALIZE, "-exponents[pair.channels], with_bias=False)", "-exponents[pair.channels] + 1, with_bias=False)"),
    (EQUALIZE, "        if with_bias and self.bias is not None:", "        if False:"),
    (EQUALIZE, "        (first.bias, 0, every, exponents),\n", ""),
    (EQUALIZE, "fine = is_normal(numbers, pair.first.element) & is_normal", "fine = is_normal"),
    (EQUALIZE, "    for pair in changed:\n        _rename(pair)\n", ""),
    (EQUALIZE, "is not None and _has_exponents(pair)]", "is not None]"),
    # Biases.
    (BIASES, "return behind(clamps[-1].source, []) if clamps else result", "return result"),
    (BIASES, "    if isinstance(origins, ArrayAttr):", "    if False:"),
    (BIAS, "s / error.count", "s / (error.count + 1)"),
    (BIAS, "[sign * total for", "[-sign * total for"),
    (BIAS, "form.min_exponent)", "form.min_exponent + 40)"),
    (BIAS, "return NoQuantizedType(stored) if stored is product.element else stored", "return product.element"),
    # Choices.
    (GAINS, '        is_on = after.cost < before.cost or wanted != "auto"', "        is_on = True"),
    (GAINS, '    is_on = after.cost < before.cost or wanted != "auto"\n    final', "    is_on = False\n    final"),
    (GAINS, "latest_records | _records_of_new_keys(changed.module, latest_records, reference)", "latest_records"),
    (GAINS, '        if name == "equalize-scales" and not', "        if False and not"),
    (PRODUCTS, "while len(users := value.users) == 1:", "while users := value.users[:1]:"),
]


def caught(folder: Path, file: str) -> str:
    """The test that fails in a copy of the repository; empty if none does."""
    done = pytest_in(folder, *TESTS)
    if done.returncode == 0:
        return ""
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return found[1] if found else done.stdout[-200:] + done.stderr[-200:]


if __name__ == "__main__":
    main(__doc__, CHANGES, caught, "benches", "build")
