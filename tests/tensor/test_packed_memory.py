"""What packed weights and their calls keep. Hazards: a packing for each signature, storage unpacked for good,
parameters for each call, and packings shared that are not the same.

glibc counts what is allocated, all of it: what a tensor keeps is what is given back when it goes.
"""

import ctypes
import gc
import platform
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import QuantTensor, UniformType, kernels
from tests.kernels.test_memory import Heap

ALLOWANCE = 64 << 10
K, N = 512, 384
OUT = UniformType("i8", "f32", 1000.0)
ACTIVATIONS = UniformType("i8", "f32", 0.5), UniformType("u8", "f32", 0.5, 100), UniformType("i16", "f32", 0.5)
TIMES = {"ref": 4, "avx512": 4, "amx": 4, "avx2": 5}
"""For kernels that take pairs of 16 bits, or several forms."""
KINDS = ["layer", "zero point", "axis", "axis with zero points", "blocks"]
Calls = Callable[[QuantTensor], None]


@pytest.fixture(scope="module", autouse=True)
def frozen() -> Iterator[None]:
    """Objects of earlier tests, of which a worker may have a gigabyte, are not looked through at each count."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def allocated() -> int:
    count = ctypes.CDLL(None).mallinfo2
    count.restype = Heap
    heap = count()
    return int(heap.uordblks + heap.hblkhd)


def kept(w: QuantTensor, call: Calls, limit: float) -> int:
    """Bytes that go with a packed copy of the weights and its calls.

    Other threads of the process free memory too: a count beyond the limit is taken again, and the least one is right.
    """
    least = _kept_once(w, call)
    for _ in range(2):
        least = min(least, _kept_once(w, call)) if least > limit else least
    return least


def _kept_once(w: QuantTensor, call: Calls) -> int:
    packed = qrt.pack(w)
    call(packed)
    call(packed)
    gc.collect()
    before = allocated()
    del packed
    gc.collect()
    return before - allocated()


def weights(storage: str, kind: str, shape: tuple[int, ...] = (K, N), axis: int = 1) -> QuantTensor:
    """Random ones that use the whole storage."""
    count, more = shape[axis], {}
    if kind == "zero point":
        more = {"scales": 0.5, "zero_points": 3}
    elif kind.startswith("axis"):
        zero_points = [i % 5 for i in range(count)] if "zero" in kind else None
        more = {"scales": [2.0 ** -(i % 5) for i in range(count)], "zero_points": zero_points, "axis": axis}
    elif kind == "blocks":
        more = {"scales": np.full((shape[0] // 32, count), 0.25), "block_sizes": {0: 32, 1: 1}}
    t = UniformType(storage, "f32", **(more or {"scales": 0.5}))
    rng = np.random.default_rng(0)
    return QuantTensor(rng.integers(t.storage_min, t.storage_max, shape, endpoint=True), t)


def products(*rows: int) -> Calls:
    """Eight signatures, so many as are kept: of each type of activations, with some numbers of rows."""

    def call(w: QuantTensor) -> None:
        pairs = [(m, t) for m in rows for t in ACTIVATIONS]
        for m, t in pairs[:8]:
            qrt.matmul(QuantTensor(np.ones((m, w.shape[0]), np.int8), t), w, out_type=OUT)

    return call


def float_products(w: QuantTensor) -> None:
    for m in (1, 2, 3, 4, 5, 6, 7, 24):
        qrt.float_matmul(np.ones((m, w.shape[0]), np.float32), w)


def convolutions(w: QuantTensor) -> None:
    for n in (1, 2):
        for t in ACTIVATIONS:
            x = QuantTensor(np.ones((n, 4, 4, w.shape[3]), np.int8), t)
            qrt.conv2d(x, w, out_type=OUT, padding="SAME")


def most(isa: str, w: QuantTensor) -> float:
    """Bytes that docs/howto/memory.md says."""
    return TIMES.get(isa, 2.5) * w.storage.nbytes + ALLOWANCE


pytestmark = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc counts what is allocated")


@pytest.mark.parametrize("isa", kernels.available())
@pytest.mark.parametrize("storage", ["i1", "i4", "u4", "i8", "i16", "u16", "i32"])
def test_products_of_many_signatures_keep_a_bounded_memory(storage: str, isa: str) -> None:
    with kernels.use(isa):
        for kind in KINDS if storage != "i1" else ["layer", "axis"]:
            w = weights(storage, kind)
            for rows in ((1,), (8, 2), (1, 2, 3)):
                held = kept(w, products(*rows), most(isa, w))
                assert w.nbytes // 2 <= held <= most(isa, w), (kind, rows, held / w.storage.nbytes)


@pytest.mark.parametrize("isa", [isa for isa in kernels.available() if isa != "ref"])
def test_short_columns_have_few_parameters(isa: str) -> None:
    """A call of each signature has parameters of each column, which are a large part of it where K is short."""
    with kernels.use(isa):
        for storage in ("i4", "i8", "i16"):
            w = weights(storage, "axis", (64, 2048))
            assert kept(w, products(1, 2, 3), most(isa, w)) <= most(isa, w), storage


@pytest.mark.parametrize("isa", [isa for isa in kernels.available() if isa != "ref"])
@pytest.mark.parametrize("shape", [(8, 4096), (4096, 1), (4096, 10), (2048, 65)])
def test_narrow_weights_count_as_wider_ones(shape: tuple[int, int], isa: str) -> None:
    """Packings are filled up to whole panels, and calls have parameters of each column."""
    depth, columns = (-(-size // 64) * 64 for size in shape)
    with kernels.use(isa):
        for storage in ("i4", "i8", "i16"):
            w = weights(storage, "axis with zero points", shape)
            counted = depth * columns * w.storage.itemsize
            for call, times in ((products(1, 2), TIMES.get(isa, 2.5)), (float_products, 3.25)):
                limit = times * counted + ALLOWANCE
                assert kept(w, call, limit) <= limit, storage


@pytest.mark.parametrize("isa", kernels.available())
@pytest.mark.parametrize("storage", ["i4", "u4", "i8", "u8", "i16"])
def test_products_of_floats_keep_a_bounded_memory(storage: str, isa: str) -> None:
    """Weights of 16 bits are kept as float32, beside the storage."""
    with kernels.use(isa):
        for kind in KINDS:
            w = weights(storage, kind)
            times = 3.25 if storage == "i16" else 2.5
            limit = times * w.storage.nbytes + ALLOWANCE
            assert kept(w, float_products, limit) <= limit, kind


@pytest.mark.parametrize("isa", kernels.available())
@pytest.mark.parametrize("storage", ["i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("shape", [(K, N), (4096, 64), (64, 4096)])
def test_products_of_floats_with_scales_along_k_keep_weights_once(
    shape: tuple[int, int], storage: str, isa: str
) -> None:
    """Calls are of eight signatures, and scales and zero points, four bytes each, are kept once for all of them."""
    with kernels.use(isa):
        for kind, of_k in (("axis", 4), ("axis with zero points", 8)):
            w = weights(storage, kind, shape, 0)
            limit = 2.5 * w.storage.nbytes + ALLOWANCE + of_k * shape[0]
            assert w.storage.nbytes // 2 <= kept(w, float_products, limit) <= limit, kind


@pytest.mark.parametrize("isa", [isa for isa in kernels.available() if isa != "ref"])
@pytest.mark.parametrize("storage", ["i4", "i8", "i16"])
@pytest.mark.parametrize("kind", ["layer", "axis", "axis with zero points"])
def test_convolutions_of_many_signatures_keep_a_bounded_memory(kind: str, storage: str, isa: str) -> None:
    with kernels.use(isa):
        w = weights(storage, kind, (128, 3, 3, 128), 0)
        assert kept(w, convolutions, most(isa, w)) <= most(isa, w)


@pytest.mark.parametrize("isa", kernels.available())
@pytest.mark.parametrize("storage", ["i4", "u4", "i8", "i16", "u16", "i32"])
def test_shared_packings_give_the_results_of_each(storage: str, isa: str) -> None:
    """More signatures than are kept, so that the calls which packed first go, of two tensors by turns."""
    out = UniformType("i32", "f32", 1.0)
    rng = np.random.default_rng(1)
    with kernels.use(isa):
        tensors = [weights(storage, kind, (70, 36)) for kind in KINDS[:4]]
        packed = [qrt.pack(w) for w in tensors]
        for m in (1, 2, 3, 20, 1):
            for t in ACTIVATIONS:
                a = QuantTensor(rng.integers(0, 100, (m, 70)), t)
                x = rng.normal(size=(m, 70)).astype(np.float32)
                for w, p in zip(tensors, packed, strict=True):
                    assert qrt.matmul(a, p, out_type=out).equals(qrt.matmul(a, w, out_type=out)), (m, t)
                    assert np.array_equal(qrt.float_matmul(x, p), qrt.float_matmul(x, w)), m


@pytest.mark.parametrize("isa", kernels.available())
@pytest.mark.parametrize("storage", ["i4", "i8", "i16"])
def test_convolutions_share_only_what_is_packed_alike(storage: str, isa: str) -> None:
    """Windows order and fill up the same weights in different ways, with biases that fit the sums and that do not."""
    out = UniformType("i32", "f32", 1.0)
    rng = np.random.default_rng(2)
    w = weights(storage, "axis", (8, 3, 3, 4), 0)
    packed = qrt.pack(w)
    for t in ACTIVATIONS:
        for shape, more in [
            ((1, 7, 7, 4), {}),
            ((2, 7, 7, 4), {"strides": (2, 2), "padding": "SAME"}),
            ((1, 9, 9, 4), {"dilations": (2, 2)}),
            ((1, 7, 7, 8), {"groups": 2}),
        ]:
            x = QuantTensor(rng.integers(0, 100, shape), t)
            with kernels.use(isa):
                bias_type = qrt.bias_type(x, w)
                for bias in (None, QuantTensor([5] * 8, bias_type), QuantTensor([2**31 - 1] * 8, bias_type)):
                    arguments: dict[str, Any] = {"out_type": out, "bias": bias, **more}
                    expected = qrt.conv2d(x, w, **arguments)
                    assert qrt.conv2d(x, packed, **arguments).equals(expected)
                    constants = {**arguments, "bias": None if bias is None else qrt.pack(bias)}
                    assert qrt.conv2d(x, packed, **constants).equals(expected)
