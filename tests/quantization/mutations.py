"""Breaks one constraint, merge of classes, check or rule of export at a time: tests must fail. By hand, in minutes:

    python -m tests.quantization.mutations [WORD ...]

Only changes of files whose path has one of the words. The tests run in a copy of the repository. Prints for each change
which test caught it; the status is 1 if there are changes that no test catches.
"""

import re
from pathlib import Path

from tests.source_changes import main, pytest_in

HERE = "tests/quantization"
TESTS = (
    f"{HERE}/propagation",
    f"{HERE}/verification/test_check_quant.py",
    f"{HERE}/export/test_passed_values.py",
    f"{HERE}/test_check_kernels.py",
    "tests/quantization/calibration",
    "tests/reference/test_quantization_rfc.py",
    "tests/reference/test_quantization_rfc_passes.py",
    f"{HERE}/test_random_graphs.py",
    f"{HERE}/test_networks.py",
    "--ignore=tests/tensor/test_choose.py",
)
"""The nearest first: the first one that fails ends the run."""
CONSTRAINTS = "qrt/quantization/targets/constraints.py"
MODEL = "qrt/quantization/targets/model.py"
FOLDER = "qrt/quantization/propagation"
CLASSES, DECIDE, RANGES, STATISTICS = (f"{FOLDER}/{name}.py" for name in ("classes", "decide", "ranges", "statistics"))
GRAPH, SELECT, RESCALE, CAUSES = (f"{FOLDER}/{name}.py" for name in ("graph", "select", "rescale", "rescale_causes"))
FORWARDING, LAYOUT, FUNCTIONS = (f"{FOLDER}/{name}.py" for name in ("forwarded_values", "layout", "functions"))
PASSED, CARRIED = (f"qrt/quantization/export/{name}.py" for name in ("passed_values", "loop_values"))
CHECKS, EDGES = ("qrt/quantization/checking/kernels.py", "qrt/quantization/checking/value_edges.py")

CHANGES = [
    # Constraints.
    (CONSTRAINTS, "places = [*ports.results, *ports.operands]", "places = [*ports.operands, *ports.results]"),
    (CONSTRAINTS, "            specs[i] = common\n", "            specs[i] = specs[i]\n"),
    (CONSTRAINTS, "for specs, i, port in (*ports.results, *ports.operands):", "for specs, i, port in ports.operands:"),
    (CONSTRAINTS, "if given is not None and expressed is not None", "if given is None and expressed is not None"),
    (CONSTRAINTS, "max(own) > Fraction(scale) * Fraction(high)", "max(own) > 2 * Fraction(scale) * Fraction(high)"),
    (CONSTRAINTS, "if min(own) < Fraction(least) * Fraction(low)", "if min(own) > Fraction(least) * Fraction(low)"),
    (CONSTRAINTS, "above = near if near == inf or Fraction(near) >= number else nextafter(near, inf)", "above = near"),
    (CONSTRAINTS, "return a.scale * scales\n", "return scales\n"),
    (CONSTRAINTS, "columns.max(axis=1)", "columns.min(axis=1)"),
    (CONSTRAINTS, "    axis = 0 if scales.ndim else None", "    axis = None"),
    (CONSTRAINTS, "np.ldexp(scales, np.maximum(exponents, 0))", "np.ldexp(scales, exponents + 1)"),
    (CONSTRAINTS, "times.denominator) - 1).bit_length()", "times.denominator)).bit_length()"),
    (CONSTRAINTS, "reach = np.where(values < 0, -low, high)", "reach = np.where(values < 0, -low, high + 1)"),
    # Merges of classes.
    (CLASSES, "        unite(source, target)\n        return True", "        return True"),
    (CLASSES, "one.statistics = one.statistics.add(other.statistics)", "one.statistics = one.statistics"),
    (CLASSES, "one.symmetric |= other.symmetric", "one.symmetric &= other.symmetric"),
    (CLASSES, "one.given = one.given or other.given", "one.given = one.given"),
    (
        CLASSES,
        "for side in (one, other) if side.given is not None), one.storage",
        "for side in (one, other)), one.storage",
    ),
    (
        CLASSES,
        "source.storage != target.storage:\n            return False",
        "source.storage != target.storage:\n            return True",
    ),
    (CLASSES, "return source.given is target.given\n", "return True\n"),
    (CLASSES, "(is_use or self._covers(source.given, target))", "is_use"),
    (CLASSES, "and self._covers(target.given, source)", ""),
    (CLASSES, "most <= self._limit * side.finest", "most <= 1000 * self._limit * side.finest"),
    (CLASSES, "            unite(one.in_class, other.in_class)\n", "            pass\n"),
    (CLASSES, "return least.is_met_by(", "return not least.is_met_by("),
    (CLASSES, "known = [side.finest for side in (one, other) if side.finest is not None]", "known = [one.finest or 0]"),
    (CLASSES, "(*every, *couples(graph))", "every"),
    # Ranges.
    (STATISTICS, "return min(one[0], other[0]), max(one[1], other[1])", "return one"),
    (STATISTICS, "return min(low, 0.0) + 0.0, max(high, 0.0) + 0.0", "return low, high"),
    (RANGES, "else layout.rows(values)", "else layout.rows(values)[:, :1]"),
    # Decisions.
    (DECIDE, "            waiting.discard(number)", "            pass"),
    (DECIDE, "if concerned not in waiting:", "if concerned in waiting:"),
    (DECIDE, "        if new is not old and i not in named:", "        if False:"),
    (DECIDE, "if self._target.coarser_bias:", "if not self._target.coarser_bias:"),
    (DECIDE, "        if not exponents.any():\n            return", "        if True:\n            return"),
    # Rescales and causes.
    (RESCALE, "if (value, taken) not in self._made:", "if True:"),
    (RESCALE, "or source.type is taker.type:", "or source.type is not taker.type:"),
    (DECIDE, "node.in_class.type = _passed_type(", "_passed_type("),
    (DECIDE, "return max(known, key=lambda type", "return min(known, key=lambda type"),
    (CAUSES, "wanted = other.type", "wanted = node.type"),
    (CAUSES, "or hub.in_class is other.in_class", "or True"),
    # Values that scf and calls hand on, filters in another order.
    (FORWARDING, "    elif operation.name in _ARMS:", "    elif operation.name in ():"),
    (FORWARDING, "        yield from _each(last, 0, operation.results)\n", ""),
    (LAYOUT, "            return operand.permutation\n", "            return tuple(range(rank))\n"),
    # Checks.
    (CHECKS, "if ratio < Fraction(low) or", "if ratio > Fraction(low) or"),
    (CHECKS, "if any(bias.zero_points):", "if all(bias.zero_points):"),
    (CHECKS, "if scale != product and not", "if abs(scale - product) > 1e-6 and not"),
    (CHECKS, "spec is not quantized[0][1]), None)", "spec is None), None)"),
    (CHECKS, "if spec.storage != taken.storage or spec.storage_min < taken.low", "if spec.storage_min < taken.low"),
    (CHECKS, "return not taken.symmetric or all(", "return taken.symmetric or all("),
    (CHECKS, "for operand in operands if operand.permutation is not None}", "for operand in operands if False}"),
    (EDGES, "            if taken is None or taken is spec or", "            if taken is None or taken is not spec or"),
    (EDGES, "        for following in flows.get(current, ()):", "        for following in ():"),
    # Values that control flow passes on.
    (FORWARDING, "        yield from _each(operation, 2, operation.results)\n", ""),
    (PASSED, "        return not all(self._is_mendable(source, target) for target in exposed)", "        return False"),
    (PASSED, " or target not in op.results or", " or"),
    (PASSED, "        while self._leave_exposed():", "        if self._leave_exposed():"),
    (PASSED, "                pending += [value for value in values if value in self._group_of]\n", ""),
    (PASSED, '        if op.name in ("scf.for", "affine.for") and not runs(op):', "        if False:"),
    (PASSED, "elif self._group((user, index)).stays_float or", "elif"),
    (
        CARRIED,
        "use not in unchanged and not is_cast(use[0], type)",
        'use not in unchanged and use[0].name == "func.return"',
    ),
    (CARRIED, '"ult" if "unsignedCmp" in loop.attributes else "slt"', '"sle"'),
]


def caught(folder: Path, file: str) -> str:
    """The test that fails in a copy of the repository; empty if none does."""
    done = pytest_in(folder, *TESTS)
    if done.returncode == 0:
        return ""
    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return failed[1] if failed else done.stdout[-500:]


if __name__ == "__main__":
    main(__doc__, CHANGES, caught, "build")
