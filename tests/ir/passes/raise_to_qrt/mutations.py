"""Deletes one condition of raising at a time: a test must fail. By hand, in minutes:

    python -m tests.ir.passes.raise_to_qrt.mutations [WORD ...]

Only changes of files whose path has one of the words. Prints for each change whether the tests catch it. The status is
1 if there are changes that they do not catch.
"""

from pathlib import Path

from tests.source_changes import main, pytest_in

TESTS = tuple(f"tests/ir/passes/raise_to_qrt/test_{name}.py" for name in ("near_misses", "casts", "lowered", "drawn"))
PASS = "qrt/ir/passes/raise_to_qrt"
REQUANTIZED, PRODUCTS, KERNELS = (f"{PASS}/{name}.py" for name in ("requantized", "products", "kernels"))
ELEMENTS, LOOPS, SUMS = (f"{PASS}/{name}.py" for name in ("elements", "loops", "sums"))
CASTS = f"{PASS}/casts.py"
SCALARS, ELEMENTWISE, BUILDING = (f"{PASS}/{name}.py" for name in ("scalars", "elementwise", "building"))

CHANGES = [
    (REQUANTIZED, "inner >= 1 << (self.inner_width - 1)", "False"),
    (REQUANTIZED, "inner >= 1 << (self.inner_width - 1)", "inner > 1 << (self.inner_width - 1)"),
    (REQUANTIZED, "largest >= 1 << (self.product_width - 1)", "False"),
    (REQUANTIZED, "(largest >> places) + 1 + _largest(self.zero_points) >= 1 << (self.clamp_width - 1)", "False"),
    (REQUANTIZED, "bound * m0 >= half", "False"),
    (REQUANTIZED, "np.ndim(bound.limit) or bound.is_lower in ends", "False"),
    (REQUANTIZED, "not (least <= low <= high <= integer_range(result.width, False)[1])", "False"),
    (REQUANTIZED, "(low < 0 and high > -least - 1)", "False"),
    (REQUANTIZED, "np.any(shift.places < 1)", "False"),
    (REQUANTIZED, "np.any(multiplier < 1)", "False"),
    (REQUANTIZED, "np.any(multiplier >= 1 << 31)", "False"),
    (REQUANTIZED, "np.any((constant - half) % multiplier)", "False"),
    (REQUANTIZED, "or not variable.signed", ""),
    (
        PRODUCTS,
        "np.any(terms.pop(frozenset(((product, 1),)), np.asarray(0, object)) != 1)",
        "not terms.pop(frozenset(((product, 1),))).size",
    ),
    (PRODUCTS, "a_zero_point not in (None, zero)", "False"),
    (PRODUCTS, "bias is not None and constant_bias is not None", "False"),
    (PRODUCTS, "- depth * zero * w_zero_points", ""),
    (PRODUCTS, "+ zero * totals\n", "\n"),
    (PRODUCTS, "if other.reads[0].map(lambda index: canonical(rewritten(index, names))) == read:", "if True:"),
    (KERNELS, "!= p.extents[0]:", "== -1:"),
    (BUILDING, "if inferred is not type:", "if False:"),
    (BUILDING, "if any(size != 1 for size in shape[:-1]):", "if False:"),
    (CASTS, 'if parts[0] != Step("arith.cmpf", (parts[2], parts[2]), _UNORDERED):', "if False:"),
    (CASTS, "if nan is not None and list(np.broadcast_to(nan.values, len(clamped))) != clamped:", "if False:"),
    (CASTS, "not (float(low).is_integer() and float(high).is_integer())", "not (-1e9 < low < high < 1e9)"),
    (CASTS, "if not all(float(value).is_integer() for value in zero_points.values):", "if False:"),
    (ELEMENTWISE, "if r.inner.terms and r.sums.terms:", "if False:"),
    (ELEMENTWISE, "np.any(factor != 1) or not _is_whole", "not _is_whole"),
    (ELEMENTWISE, "not terms.keys() <= names or", ""),
    (ELEMENTWISE, "np.any((constant - x_point * y_point) % (1 << r.inner_width))", "False"),
    (ELEMENTWISE, "if not all(_is_whole(read, result, allow_broadcast=True) for read in reads):", "if False:"),
    (ELEMENTWISE, "bound *= max(abs(end - point) for end in read.range)", "bound *= max(read.range)"),
    (f"{PASS}/__init__.py", 'if size is None and (("d", loop), None)', 'if False and (("d", loop), None)'),
    (ELEMENTS, "if not chunks and last != 0:", "if False:"),
    (ELEMENTS, 'if kind_of(reduction) != "add" or', "if"),
    (KERNELS, "if any(padding[0]) or any(padding[3]):", "if False:"),
    (KERNELS, "if stride < 1 or len(inner) > 1 or", "if"),
    (KERNELS, "    if not fits:", "    if False:"),
    (KERNELS, "if tensor_type(source).shape != (channels,):", "if False:"),
    (KERNELS, 'if indices != (("d", len(p.outer) - 1),) and (channels != 1 or indices != (0,)):', "if False:"),
    (KERNELS, "if not is_same or shift > _MOST_PLACES:", "if False:"),
    (BUILDING, "if not all(value.block in blocks for value in values):", "if False:"),
    (LOOPS, "if self.start.parent is not first.parent or not _is_before(self.start, first):", "if False:"),
    (LOOPS, "and _positions(load) == list(map(induction_variable, self.parallel))", ""),
    (SUMS, 'if not isinstance(index, tuple) or index[0] != "d" or index[1] not in loops:', "if False:"),
    (ELEMENTS, "any(user.name not in READERS for user in tensor.users)", "False"),
    (ELEMENTS, "if any(low) or any(high[:-1]) or value != 0 or size is None:", "if value is None or size is None:"),
    (ELEMENTS, "np.any(factor != 1) or any(self.running is variable", "any(self.running is variable"),
    (LOOPS, "if others or not 1 <= len(stores) <= 2:", "if not 1 <= len(stores) <= 2:"),
    (LOOPS, "if _positions(store) != own:", "if False:"),
    (LOOPS, "if sizes != shape_of(self.buffer.type):", "if False:"),
    (LOOPS, "if low != (0,) or", "if"),
    (LOOPS, "if not _is_before(nest, user):", "if False:"),
    (SUMS, "min(loops[index[1]], limit.size)", "loops[index[1]]"),
    (SCALARS, "np.all(number % (1 << x.width) == half)", "True"),
    (SCALARS, "shift = int(signed(constant, width)) if read.width < width else low - least", "shift = int(constant)"),
]


def caught_by(folder: Path, file: str) -> str:
    """Return the name of the test that fails in a copy; "" if none does."""
    done = pytest_in(folder, *TESTS)
    failed = [line.split(" ")[1] for line in done.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return failed[0] if failed else "" if done.returncode == 0 else done.stdout[-300:]


if __name__ == "__main__":
    main(__doc__, CHANGES, caught_by)
