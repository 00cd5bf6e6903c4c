"""The range that entropy chooses, by its definition in loops; and what holds for all methods."""

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrt.quantization.calibration.entropy import PARTS, least_divergence
from qrt.quantization.calibration.observers import Summary
from qrt.quantization.calibration.records import RECORD_METHODS, Record, chosen_range
from qrt.tensor.choose import Storage

STORAGES = [
    Storage("i8", -128, 127, "f32", False),
    Storage("i8", -127, 127, "f32", True),
    Storage("u2", 0, 3, "f32", False),
    Storage("i4", -8, 7, "f32", False),
    Storage("i16", -32768, 32767, "f32", True),
]


def record(values: object) -> Record:
    summary = Summary()
    summary.update(np.asarray(values, np.float32))
    found = summary.record()
    assert found is not None
    return found


@pytest.mark.parametrize("method", RECORD_METHODS)
@pytest.mark.parametrize("storage", STORAGES[:3])
def test_the_order_of_values_and_records_changes_no_range(method: str, storage: Storage) -> None:
    rng = np.random.default_rng(3)
    one, two = np.abs(rng.standard_cauchy(500)), rng.standard_normal(300) ** 2
    both = record(np.concatenate([two, one]))
    expected = chosen_range([both], storage, method)  # type: ignore[arg-type]
    assert chosen_range([record(one), record(two)], storage, method) == expected  # type: ignore[arg-type]
    assert chosen_range([record(two[::-1]), record(one)], storage, method) == expected  # type: ignore[arg-type]
    assert expected[0] in (0, -expected[1])
    assert 0 < expected[1] <= both.high


@pytest.mark.parametrize("method", RECORD_METHODS)
def test_equal_values_have_the_range_to_0(method: str) -> None:
    for value in (3.0, -0.7, 0.0):
        expected = min(np.float32(value), 0), max(np.float32(value), 0)
        assert chosen_range([record([value] * 9)], STORAGES[0], method) == expected  # type: ignore[arg-type]


def test_zeros_have_no_part_in_a_percentile() -> None:
    """Counted as the end of their bin, zeros below a few outliers would take a step below 0."""
    values = np.concatenate([[-1e-3], np.zeros(99_999), np.full(200_000, 2.0)])
    assert chosen_range([record(values)], STORAGES[0], "percentile")[0] == 0


def plain_divergence(values: list[float], counts: list[int], low: float, high: float, storage: Storage) -> list[float]:
    """The divergences of all candidates, in loops over parts, by their definition."""
    reach, found = max(-low, high), []
    parts: dict[float, int] = {}
    for x, count in zip(values, counts, strict=True):
        if x:
            middle = (min(int(abs(x) / reach * PARTS), PARTS - 1) + 0.5) / PARTS * reach
            middle = -middle if x < 0 else middle
            parts[middle] = parts.get(middle, 0) + count
    for k in range(64, 0, -1):
        scale, zero = (each[0] for each in storage.parameters(np.float64([low * k / 64]), np.float64([high * k / 64])))
        codes = {x: round(x / float(scale)) + int(zero) for x in parts}
        inside = sorted(x for x in parts if storage.low <= codes[x] <= storage.high)
        if not inside:
            found.append(np.inf)
            continue
        given = {x: parts[x] for x in inside}
        given[inside[0]] += sum(n for x, n in parts.items() if x < inside[0])
        given[inside[-1]] += sum(n for x, n in parts.items() if x > inside[-1])
        total, kept, divergence = sum(parts.values()), sum(parts[x] for x in inside), 0.0
        for x in inside:
            same = [y for y in inside if codes[y] == codes[x]]
            p = Fraction(given[x], total)
            q = Fraction(sum(parts[y] for y in same), len(same) * kept)
            divergence += float(p) * log(p / q)
        found.append(divergence)
    return found


@given(st.integers(0, 1 << 30), st.sampled_from(STORAGES), st.integers(1, 40), st.booleans())
@settings(max_examples=12, deadline=None)
def test_entropy_is_the_least_divergence(seed: int, storage: Storage, size: int, positive: bool) -> None:
    rng = np.random.default_rng(seed)
    values = np.unique(np.round(rng.standard_cauchy(size), 3))
    values = np.unique(np.abs(values)) if positive or storage.low == 0 else values
    counts = rng.integers(1, 1000, values.size).tolist()
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    if low == high:
        return
    found = least_divergence(values, counts, low, high, storage)
    divergences = plain_divergence(values.tolist(), counts, low, high, storage)
    place = next(i for i in range(64) if (low * (64 - i) / 64, high * (64 - i) / 64) == found)
    assert divergences[place] <= min(divergences) + 1e-9
    assert all(d > divergences[place] - 1e-9 for d in divergences[:place])


def test_an_outlier_is_left_out_by_entropy_and_equals_take_the_wider_range() -> None:
    rng = np.random.default_rng(5)
    values = np.concatenate([np.abs(rng.standard_normal(5000)), [90.0]])
    low, high = chosen_range([record(values)], STORAGES[0], "entropy")
    assert low == 0
    assert 2 < high < 30
    # Two values of two codes are told apart by many ranges: nothing is lost in any of them.
    assert chosen_range([record([1.0] * 5 + [2.0] * 5)], STORAGES[0], "entropy") == (0.0, 2.0)


def test_zeros_do_not_count_for_entropy() -> None:
    """A type holds 0 exactly. Half the values after a relu are 0, and would ask for ever smaller ranges."""
    rng = np.random.default_rng(6)
    values = np.abs(rng.standard_normal(3000))
    with_zeros = np.concatenate([values, np.zeros(30_000)])
    one, other = (chosen_range([record(each)], STORAGES[0], "entropy") for each in (values, with_zeros))
    assert one == other
