"""Reductions over the axes before the last one, pools of few channels, and transposes, on sizes around their blocks.

Hazards: lines that are taken together and do not fill a block; sums that leave 16, 32 bits; rows past those that words
hold; runs of windows that end amid a buffer; the last block of a transpose, which overlaps the one before."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from qrt import numerics
from qrt._ext.kernels import bind_avg_pool2d, bind_copy, bind_extremum, bind_max_pool2d, bind_mean
from tests.kernels.draws import DTYPES, isas_by_rows
from tests.kernels.test_isa_elementwise import ENDS, agree, values

ISAS = [isa for isa in isas_by_rows("mean_row", "avg_pool_run", "max_pool_run", "pair_row") if isa != "ref"]
CONTAINERS = ("i8", "u8", "i16", "u16")
SHAPES = [(3, 5, 7), (129, 1, 31), (2, 130, 96), (20_000, 3), (17_000, 1, 33), (5, 30, 1100)]


def requant(to: str, scale: float) -> numerics.RequantParameters:
    return numerics.requant_parameters("fixed", to, *ENDS[to], [(scale,)], [(1.0,)], [-3])


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
def test_extremes(isa: str, storage: str) -> None:
    for shape, least in product(SHAPES, (False, True)):
        for axes in {(0,), tuple(range(len(shape) - 1)), (len(shape) - 2,)}:
            given = {"dtype": DTYPES[storage], "x_shape": shape, "axes": axes, "least": least}
            x = values(storage, *shape)
            agree(isa, bind_extremum, given, x)


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
def test_means(isa: str, storage: str) -> None:
    """Values at the ends alone, whose sums are the largest."""
    for shape in SHAPES:
        for axes in ((0,), tuple(range(len(shape) - 1)), (len(shape) - 1,)):
            count = int(np.prod([shape[axis] for axis in axes]))
            given = {"storage": storage, "x_shape": shape, "axes": axes, "zero_points": [ENDS[storage][0]],
                     "requant": requant("i8", 1 / count)}  # fmt: skip
            for end in ENDS[storage]:
                agree(isa, bind_mean, given, np.full(shape, end, DTYPES[storage]))
            agree(isa, bind_mean, given, values(storage, *shape))


@pytest.mark.parametrize("isa", ISAS)
@pytest.mark.parametrize("storage", CONTAINERS)
@pytest.mark.parametrize("channels", [1, 2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 33, 256, 257])
def test_pools(isa: str, storage: str, channels: int) -> None:
    """Wide images have many runs. Windows are cut at the edges, and overlap or not."""
    for width, kernel, stride in ((9, 2, 2), (2100 // channels + 5, 3, 1), (700 // channels + 3, 3, 2), (7, 7, 7)):
        shape = (2, 7, width, channels)
        pads = ((1, 1), (1, 1)) if kernel == 3 else ((0, 0), (0, 0))
        given: dict[str, Any] = {"storage": storage, "x_shape": shape, "kernel": (kernel, kernel),
                                 "strides": (stride, stride), "padding": pads}  # fmt: skip
        x = values(storage, *shape)
        agree(isa, bind_max_pool2d, given, x)
        counts = np.arange(kernel * kernel) + 1
        for rule in ("fixed", "integer"):
            parameters = numerics.requant_parameters(
                rule, storage, *ENDS[storage], [(1.0,)] * len(counts), [(1.0,)] * len(counts), [5] * len(counts),
                counts.tolist(),
            )  # fmt: skip
            agree(isa, bind_avg_pool2d, given | {"zero_points": [5], "requant": parameters, "count_step": 1}, x)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.float32, np.float64])
def test_transposes(dtype: Any) -> None:
    rng = np.random.default_rng(0)
    for rows, columns, depth in product(
        (1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 70), (3, 4, 8, 15, 16, 17, 24, 64), (1, 3)
    ):
        source = rng.integers(0, 127, (depth, rows, columns)).astype(dtype)
        for order in ((0, 2, 1), (2, 0, 1), (2, 1, 0)):
            view = source.transpose(order)
            shape = view.shape
            call = bind_copy(
                dtype=dtype, shapes=[shape], source_strides=[[s // source.itemsize for s in view.strides]],
                target_strides=[(shape[1] * shape[2], shape[2], 1)], source_sizes=[source.size],
                target_size=source.size,
            )  # fmt: skip
            out = np.zeros(shape, dtype)
            call(source, out)
            np.testing.assert_array_equal(out, view)
