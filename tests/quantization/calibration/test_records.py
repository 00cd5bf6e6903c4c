"""Hazards: a histogram that depends on the order of its records; a value that a percentile leaves out and that is most
of them; a file of records that is read as something else than it says.
"""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from qrt.errors import ModelError
from qrt.quantization.calibration.records import Record, chosen_range, read_records, write_records
from qrt.tensor.choose import Storage, choose_ranges, least_error_ranges

I8 = Storage("i8", -128, 127, "f32", False)
SYMMETRIC = Storage("i8", -127, 127, "f32", True)


def record_of(values: np.ndarray) -> Record:
    """As a calibration writes it: values are counted by the high bits of their f32."""
    bits, counts = np.unique(values.astype(np.float32).view(np.uint32) >> 16, return_counts=True)
    return Record(
        values.size, float(values.min()), float(values.max()), dict(zip(bits.tolist(), counts.tolist(), strict=True))
    )


def spread(values: np.ndarray) -> np.ndarray:
    """Values as the method mse counts their bins: four points of each, within the least and the greatest."""
    bits = values.astype(np.float32).view(np.uint32) >> 16
    near, far = ((bits + step << 16).astype(np.uint32).view(np.float32).astype(np.float64) for step in (0, 1))
    points = np.concatenate([near + (far - near) * part for part in (0.125, 0.375, 0.625, 0.875)])
    return np.clip(np.where(np.tile(values, 4) == 0, 0.0, points), float(values.min()), float(values.max()))


finite = st.floats(-(2.0**60), 2.0**60, width=32).filter(lambda value: abs(value) > 2.0**-60)


@given(st.lists(st.lists(finite, min_size=1, max_size=40), min_size=1, max_size=3), st.sampled_from([I8, SYMMETRIC]))
def test_histograms_choose_what_the_values_would(parts: list[list[float]], storage: Storage) -> None:
    """But for the points of a bin that stand for its values."""
    arrays = [np.float32(part) for part in parts]
    every = np.concatenate(arrays)
    for method in ("minmax", "mse"):
        expected = choose_ranges(every.reshape(1, -1), storage, "minmax", 99.99)
        low, high = chosen_range([record_of(array) for array in arrays], storage, method)
        assert expected[0][0] <= low <= 0 <= high <= expected[1][0]
        assert (low, high) == chosen_range([record_of(array) for array in reversed(arrays)], storage, method)
        if method == "minmax":
            assert (low, high) == (expected[0][0], expected[1][0])


@pytest.mark.parametrize("storage", [I8, SYMMETRIC])
def test_the_least_error_is_that_of_the_values_that_bins_stand_for(storage: Storage) -> None:
    rng = np.random.default_rng(5)
    for scale in (1e-3, 1.0, 1e5):
        values = (rng.standard_t(2, size=3000) * scale).astype(np.float32)
        ends = (np.float64([min(values.min(), 0)]), np.float64([max(values.max(), 0)]))
        expected = least_error_ranges(spread(values).reshape(1, -1), *ends, storage)
        assert chosen_range([record_of(values)], storage, "mse") == (expected[0][0], expected[1][0])


def test_squares_are_compared_to_the_last_bit() -> None:
    """Values of a few codes have errors so small that the lower halves of their sums decide, and what they carry."""
    storage = Storage("i16", -32768, 32767, "f32", False)
    rng, factors = np.random.default_rng(3), np.arange(64, 0, -1) / 64
    for size in (2, 5, 300):
        for values in rng.uniform(-1e-4, 1e-4, (12, size)):
            low, high = -1.0, 1.0  # no fraction of it cuts a value off
            scales, zeros = storage.parameters(low * factors, high * factors)
            unit, totals = 2.0 ** (31 - np.frexp(max(-low, high))[1]), []
            for scale, zero in zip(scales * unit, zeros, strict=True):
                stored = np.clip(np.rint(values * unit / scale), -32768 - zero, 32767 - zero)
                totals.append(sum(int(error) ** 2 for error in np.rint(values * unit - stored * scale)))
            best = factors[totals.index(min(totals))]
            found = least_error_ranges(values[np.newaxis], np.float64([low]), np.float64([high]), storage)
            assert (found[0][0], found[1][0]) == (low * best, high * best)


def test_a_percentile_leaves_out_one_in_ten_thousand() -> None:
    values = np.float32([1.0] * 19998 + [50.0, -70.0])
    assert chosen_range([record_of(values)], I8, "percentile") == (0.0, 1.0078125)
    assert chosen_range([record_of(values)], SYMMETRIC, "percentile") == (-1.0078125, 1.0078125)
    assert chosen_range([record_of(values[:9000])], I8, "percentile") == (0.0, 1.0)
    few = record_of(np.float32([1.0] * 9998 + [50.0]))
    assert chosen_range([few], I8, "percentile") == (0.0, 50.0)
    assert chosen_range([few], SYMMETRIC, "percentile") == (-50.0, 50.0)
    above = record_of(np.float32([1.0] * 19998 + [50.0, 70.0]))
    assert chosen_range([above], I8, "percentile") == (0.0, 50.25)  # half of what may be left out is below
    below = record_of(np.float32([1.0] * 19998 + [-50.0, -70.0]))
    assert chosen_range([below], I8, "percentile") == (-50.25, 1.0)
    halves = [record_of(half) for half in (values[:5000], values[5000:])]
    assert chosen_range(halves, I8, "percentile") == (0.0, 1.0078125)


def test_the_whole_range_is_among_those_that_are_tried_and_comes_first() -> None:
    """Codes have no error at the whole range alone; at the least scale of f16 all ranges have the same."""
    assert chosen_range([record_of(np.float32([0, 51, 255]))], I8, "mse") == (0.0, 255.0)
    least = np.float32(2.0**-24)
    assert chosen_range([record_of(np.float32([0, least]))], Storage("i8", -128, 127, "f16", False), "mse") == (
        0,
        least,
    )


def test_a_value_of_almost_only_zeros_keeps_its_range() -> None:
    values = np.float32([0.0] * 100000 + [3.0])
    assert chosen_range([record_of(values)], I8, "percentile") == (0.0, 3.0)
    assert chosen_range([record_of(np.zeros(4, np.float32))], I8, "mse") == (0.0, 0.0)


ENTRY = {"count": 2, "min": -1, "max": 3.5, "histogram": {"16256": 1, "49024": 1}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"count": 0}, "count must be a positive integer, got 0"),
        ({"count": True}, "count must be a positive integer, got True"),
        ({"min": "a"}, "min must be a finite number"),
        ({"max": float("nan")}, "max must be a finite number"),
        ({"max": 10**400}, "max must be a finite number"),
        ({"min": 4}, "min must be at most max, got 4 and 3.5"),
        ({"mean": 4}, "unknown key 'mean': the keys are count, min, max, histogram"),
        ({"histogram": []}, "histogram must be a table"),
        ({"histogram": {"x": 2}}, "as a decimal number, got 'x'"),
        ({"histogram": {"65536": 2}}, "as a decimal number, got '65536'"),
        ({"histogram": {"32640": 2}}, "as a decimal number, got '32640'"),
        ({"histogram": {"1": 1.5}}, "must be positive integers, got 1.5 for key 1"),
        ({"histogram": {"1": 3}}, "count must be the sum of the histogram, 3, got 2"),
    ],
)
def test_wrong_entries_are_named(change: dict[str, object], said: str) -> None:
    text = json.dumps({"version": 1, "records": {"layer1": ENTRY | change}})
    with pytest.raises(ModelError) as error:
        read_records(text, "r.json")
    assert str(error.value).startswith("r.json: record 'layer1': ")
    assert said in str(error.value)


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "records": {}}', '{"version": 1}', "[" * 100000])
def test_other_texts_are_no_records(text: str) -> None:
    with pytest.raises(ModelError, match=r"^r\.json: (not JSON|expected \{\"version\": 1)"):
        read_records(text, "r.json")


def test_a_record_is_read() -> None:
    found = read_records(json.dumps({"version": 1, "records": {"a": ENTRY}}), "r.json")
    assert found == {"a": Record(2, -1.0, 3.5, {16256: 1, 49024: 1})}


@given(
    st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=1, max_size=20), st.text(max_size=5)
)
@settings(max_examples=40)
def test_what_is_written_is_read(values: list[float], key: str) -> None:
    records = {key: record_of(np.float32(values) + np.float32(0)), "other": Record(1, 0.5, 0.5)}
    text = write_records(records)
    assert read_records(text, "f") == records
    assert text == write_records(dict(reversed(records.items())))


@pytest.mark.parametrize("cut", [1, 40, -3])
def test_a_file_that_ends_early_is_an_error(cut: int) -> None:
    text = write_records({"x": record_of(np.float32([1, 2])), "y": record_of(np.float32([3]))})
    with pytest.raises(ModelError, match=r"r\.json: not JSON"):
        read_records(text[:cut], "r.json")


def test_a_record_of_many_bins_is_shown_in_one_short_line() -> None:
    few, many = Record(2, -1.0, 3.5, {1: 1, 2: 1}), Record(5000, -1.0, 3.5, dict.fromkeys(range(5000), 1))
    assert repr(few) == "Record(count=2, low=-1.0, high=3.5, histogram={1: 1, 2: 1})"
    assert eval(repr(few), {"Record": Record}) == few
    assert repr(many) == "Record(count=5000, low=-1.0, high=3.5, histogram={5000 bins})"
