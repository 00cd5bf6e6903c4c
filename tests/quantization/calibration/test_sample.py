"""Samples. Hazards: rows that depend on the order or the split of the data, memory that grows with the data, a row that
holds the memory of its batch, a batch that joins what the program does not take together."""

import tracemalloc
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.errors import QuantTypeError
from qrt.quantization.calibration.sample import Sample


def seen(parts: Any, **options: Any) -> Sample:
    sample = Sample(["x"], **options)
    for part in parts:
        sample.update({"x": part})
    return sample


def rows_of(sample: Sample) -> list[bytes]:
    return [row.tobytes() for batch in sample.batches() for row in batch["x"]]


@given(
    values=st.lists(st.integers(0, 40), max_size=60),
    most=st.integers(1, 12),
    most_bytes=st.integers(1, 100),
    seed=st.integers(0, 1 << 30),
    shards=st.integers(1, 7),
)
def test_any_split_and_order_keeps_the_same_rows(
    values: list[int], most: int, most_bytes: int, seed: int, shards: int
) -> None:
    """Equal rows too, and bounds that the sample reaches."""
    data = np.array(values, np.float32).reshape(-1, 1)
    options = {"most": most, "most_bytes": most_bytes}
    whole = seen([data], **options)
    assert len(whole) == min(len(set(values)), most, -(-most_bytes // 4))
    merged = Sample(["x"], **options)
    for part in np.array_split(np.random.default_rng(seed).permutation(data), shards):
        merged.merge(seen(np.array_split(part, 2), **options))
    assert merged.digest() == whole.digest()
    assert rows_of(merged) == rows_of(whole)


@given(
    sizes=st.lists(st.integers(1, 9), min_size=1, max_size=20), most_bytes=st.integers(1, 200), cut=st.integers(0, 20)
)
def test_rows_of_several_sizes_keep_the_bound_of_bytes_in_any_order(
    sizes: list[int], most_bytes: int, cut: int
) -> None:
    """A row that is left out because it is large leaves no room for a smaller one behind it."""
    data = [np.full((1, size), number, np.float32) for number, size in enumerate(sizes)]
    whole = seen(data, most_bytes=most_bytes)
    one, other = (seen(part, most_bytes=most_bytes) for part in (data[cut:], data[:cut]))
    one.merge(other)
    assert one.digest() == whole.digest() == seen(data[::-1], most_bytes=most_bytes).digest()
    taken = [4 * row.shape[-1] for batch in whole.batches() for row in batch["x"]]
    assert sum(taken) >= min(most_bytes, 4 * sum(sizes))
    assert sum(taken) - max(taken) < most_bytes


def test_rows_have_the_least_hashes() -> None:
    """Whatever is drawn first stays in no sample that is drawn from more."""
    data = np.arange(5000, dtype=np.float32).reshape(-1, 1)
    places = np.concatenate([batch["x"].reshape(-1) for batch in seen([data]).batches()])
    assert len(set(places.tolist())) == 256
    assert abs(places.mean() - 2500) < 400
    assert [len(batch["x"]) for batch in seen([data]).batches()] == [64] * 4


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8, np.bool_, ml_dtypes.bfloat16])
def test_rows_of_inputs_go_together(dtype: Any) -> None:
    sample = Sample(["x", "y"], most=20)
    x = np.arange(100).reshape(50, 2).astype(dtype)
    y = np.arange(50)
    sample.update({"y": y, "x": x})
    (batch,) = sample.batches()
    assert len(batch["y"]) == 20
    assert batch["x"].tobytes() == x[batch["y"]].tobytes()
    assert batch["x"].dtype == dtype


def test_shapes_and_dtypes_are_told_apart() -> None:
    data = np.zeros((1, 4), np.float32)
    digests = {seen([given]).digest() for given in (data, data.reshape(1, 2, 2), data.view(np.int32))}
    assert len(digests) == 3


def test_inputs_of_different_rows_stay_as_they_ran() -> None:
    """They may be the factors of a product."""
    sample = Sample(["x", "y"])
    batch = {"x": np.zeros((3, 2), np.float32), "y": np.ones((2, 5), np.float32)}
    sample.update(batch)
    sample.update({"x": batch["x"] + 1, "y": batch["y"]})
    assert [(each["x"].shape, each["y"].shape) for each in sample.batches()] == [((3, 2), (2, 5))] * 2


def test_runs_are_kept_whole() -> None:
    sample = seen([np.zeros((4, 2)), np.ones((4, 2)), np.zeros((4, 2))], by_rows=False)
    assert [batch["x"].shape for batch in sample.batches()] == [(4, 2)] * 2
    scalars = seen([np.float32(1), np.float32(2)], by_rows=False)
    assert sorted(float(batch["x"]) for batch in scalars.batches()) == [1, 2]


def test_rows_that_are_not_finite_do_not_count() -> None:
    clean = np.float32([[1], [2]])
    assert seen([np.float32([[np.nan], [1], [-np.inf], [2]])]).digest() == seen([clean]).digest()


def test_samples_of_other_bounds_are_not_merged() -> None:
    for options in ({"most": 2}, {"by_rows": False}, {"most_bytes": 9}):
        with pytest.raises(
            QuantTypeError, match="samples can be merged only if they were created with the same inputs and limits"
        ):
            Sample(["x"]).merge(Sample(["x"], **options))


def test_memory_does_not_grow_with_the_data() -> None:
    """A view of a row would hold its batch; large rows are fewer than 256."""
    sample = Sample(["x"])
    rng = np.random.default_rng(0)
    tracemalloc.start()
    for _ in range(4):
        sample.update({"x": rng.standard_normal((64, 1 << 15))})
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(sample) == 32
    assert used < 9 << 20
