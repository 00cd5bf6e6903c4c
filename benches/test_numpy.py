"""NumPy's functions on quantized tensors beside the same on the bytes of their storage: every function of the table.

The goal: at most 20 us more than NumPy's CPU time, or at most 1.1 times as much from 64K elements on. A line ends with
what it misses:

- the name of a cause of `tests/tensor/numpy_limits.py`: within the ratio that stands there with the reason.
- `MORE`: not even that.
"""

import re
from time import process_time
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.tensor.protocol.table import name_of, table
from tests.tensor.numpy_limits import LIMITS, MOST, limit_of

T = qrt.UniformType("i8", "f32", 0.02, 3)
SIZES = {"16": 4, "64K": 256}
SECONDS = 0.002
"""So long is a measurement, about."""
CALLS = """
np.append(x, y) | np.append(x, c) | np.array_split(x, 2) | np.atleast_1d(x) | np.atleast_2d(v) | np.atleast_3d(v)
np.broadcast_arrays(x, x) | np.broadcast_to(x, (2, n, n)) | np.choose(j, [x, y])
np.column_stack([v, v]) | np.compress(m[0], x, 1) | np.concatenate([x, y]) | np.conjugate(x) | np.copy(x)
np.copyto(z, y) | np.delete(x, 0, 0) | np.diag(x) | np.diag(w) | np.diagflat(w) | np.diagonal(x) | np.dsplit(x3, 2)
np.dstack([x, y]) | np.empty_like(x) | np.expand_dims(x, 0) | np.extract(m, x) | np.fft.fftshift(x)
np.fft.ifftshift(x) | np.fill_diagonal(z, c) | np.flip(x) | np.fliplr(x) | np.flipud(x) | np.full_like(x, c)
np.hsplit(x, 2) | np.hstack([x, y]) | np.imag(x) | np.insert(x, 1, c, 0) | np.insert(x, 1, w, 0)
np.lib.stride_tricks.sliding_window_view(x, (2, 2)) | np.linalg.diagonal(x) | np.matrix_transpose(x)
np.linalg.matrix_transpose(x) | np.meshgrid(w, w) | np.moveaxis(x, 0, 1) | np.ones_like(x) | np.pad(x, 1)
np.pad(x, 1, "edge") | np.place(z, m, [c]) | np.put(z, [1, 2], c) | np.put_along_axis(z, i[:, None], c, 0)
np.putmask(z, m, y) | np.ravel(x) | np.real(x) | np.real_if_close(x) | np.repeat(x, 2, 0) | np.reshape(x, (n * n,))
np.resize(x, (n, 2 * n)) | np.roll(x, 1, 0) | np.roll(x, 1) | np.rollaxis(x, 1) | np.rot90(x)
np.select([m], [x], c) | np.select([m], [x], y) | np.split(x, 2) | np.squeeze(x) | np.stack([x, y])
np.swapaxes(x, 0, 1) | np.take(x, i, 0) | np.take_along_axis(x, i[:, None], 0) | np.tile(x, 2) | np.transpose(x)
np.tril(x) | np.triu(x) | np.unstack(x) | np.vsplit(x, 2) | np.vstack([x, y]) | np.where(m, x, y)
np.where(m, x, c) | np.zeros_like(x) | x[m] | x[i] | x[1:] | z.__setitem__(..., c) | z.__setitem__(..., y)
np.absolute(x) | np.all(x) | np.allclose(x, y) | np.amax(x) | np.amin(x) | np.any(x) | np.argmax(x) | np.argmin(x, 0)
np.argpartition(x, 1) | np.argsort(x) | np.argwhere(x) | np.array_equal(x, y) | np.array_equiv(x, y)
np.clip(x, c, d) | np.count_nonzero(x) | np.digitize(x, e) | np.equal(x, y) | np.equal(x, c) | np.fabs(x)
np.flatnonzero(x) | np.fmax(x, y) | np.fmax.accumulate(x) | np.fmax.reduce(x) | np.fmin(x, y) | np.fmin.accumulate(x)
np.fmin.reduce(x) | np.greater(x, y) | np.greater(x, c) | np.greater_equal(x, c) | np.intersect1d(x, y)
np.isclose(x, y) | np.isfinite(x) | np.isin(x, w) | np.isinf(x) | np.isnan(x) | np.isneginf(x) | np.isposinf(x)
np.less(x, y) | np.less_equal(x, y) | np.lexsort((v, v)) | np.logical_and(x, y) | np.logical_and.accumulate(x)
np.logical_and.reduce(x) | np.logical_not(x) | np.logical_or(x, y) | np.logical_or.accumulate(x)
np.logical_or.reduce(x) | np.logical_xor(x, y) | np.logical_xor.accumulate(x) | np.logical_xor.reduce(x) | np.max(x)
np.max(x, axis=0) | np.maximum(x, y) | np.maximum(x, c) | np.maximum.accumulate(x) | np.maximum.reduce(x) | np.min(x)
np.minimum(x, y) | np.minimum.accumulate(x) | np.minimum.reduce(x) | np.nan_to_num(x) | np.nanargmax(x)
np.nanargmin(x) | np.nanmax(x) | np.nanmin(x) | np.nanpercentile(x, 50, method="lower")
np.nanquantile(x, 0.5, method="lower") | np.negative(x) | np.nonzero(x) | np.not_equal(x, y) | np.partition(x, 1)
np.percentile(x, 50, method="lower") | np.positive(x) | np.quantile(x, 0.5, method="lower") | np.searchsorted(e, c)
np.searchsorted(e, v) | np.setdiff1d(x, y) | np.setxor1d(x, y) | np.sign(x) | np.signbit(x) | np.sort(x)
np.union1d(x, y) | np.unique(x) | np.unique_all(x) | np.unique_counts(x) | np.unique_inverse(x) | np.unique_values(x)
np.add(x, y) | np.add.accumulate(x) | np.add.reduce(x) | np.average(x)
np.convolve(w, k) | np.correlate(w, k) | np.cross(u, u) | np.cumsum(x) | np.cumulative_sum(v) | np.diff(x)
np.divide(x, 2) | np.dot(x, y) | np.ediff1d(x) | np.einsum("ij,kj->ik", x, y) | np.einsum_path("ij,kj->ik", x, y)
np.inner(w, w) | np.kron(w, k) | np.linalg.matmul(x, y) | np.linalg.norm(x) | np.linalg.outer(w, w)
np.linalg.tensordot(x, y, axes=1) | np.linalg.trace(x) | np.linalg.vecdot(x, y) | np.matmul(x, y) | np.matvec(x, w)
np.mean(x) | np.mean(x, axis=0) | np.multiply(x, y) | np.multiply(x, 2) | np.multiply.outer(w, w)
np.multiply.reduce(x[:3]) | np.nancumsum(x) | np.nanmean(x) | np.nanprod(x[:3], 0) | np.nanstd(x) | np.nansum(x)
np.nanvar(x) | np.outer(w, w) | np.power(x, 2) | np.prod(x[:3], 0) | np.ptp(x) | np.ptp(x, axis=0) | np.square(x)
np.std(x) | np.std(x, axis=0) | np.subtract(x, y) | np.sum(x) | np.sum(x, axis=0) | np.tensordot(x, y, 1)
np.trace(x) | np.var(x) | np.vdot(v, v) | np.vecdot(x, y) | np.vecmat(w, x)
np.array2string(x) | np.array_repr(x) | np.array_str(x) | np.astype(x, np.float32) | np.can_cast(x, np.float64)
np.common_type(x) | np.diag_indices_from(x) | np.iscomplex(x) | np.iscomplexobj(x) | np.isreal(x) | np.isrealobj(x)
np.may_share_memory(x, y) | np.min_scalar_type(x) | np.ndim(x) | np.result_type(x, x) | np.savetxt(file, x[:1])
np.shape(x) | np.shares_memory(x, y) | np.size(x) | np.tril_indices_from(x) | np.triu_indices_from(x)
"""
EXPRESSIONS = [call for call in re.split(r"\s*[|\n]\s*", CALLS) if call]


def names_of(size: int, of_tensors: bool) -> dict[str, Any]:
    """What the expressions name: tensors, or their storage."""
    rng = np.random.default_rng(0)
    x, y = (rng.integers(-128, 128, (size, size), np.int8) for _ in range(2))
    arrays = {"x": x, "y": y, "z": x.copy(), "x3": x.reshape(2, -1, 4), "v": x.reshape(-1), "w": x[0], "k": x[0, :4]}
    arrays |= {"u": x.reshape(-1)[: size * size // 3 * 3].reshape(-1, 3), "e": np.sort(x[0])}
    made = {name: qrt.QuantTensor(array, T) if of_tensors else array for name, array in arrays.items()}
    numbers = {"c": 0.6, "d": 1.2} if of_tensors else {"c": 33, "d": 63}
    others = {
        "i": np.arange(size)[::-1].copy(),
        "m": x > 0,
        "j": (x > 0).astype(int),
        "n": size,
        "np": np,
        "file": "/dev/null",
    }
    return made | numbers | others


def test_every_function_is_here() -> None:
    named = {match for call in EXPRESSIONS for match in re.findall(r"np(?:\.\w+)+(?=\()", call)}
    wanted = {name_of(function) for function, entry in table().items() if entry.rule is not None}
    assert wanted <= named, sorted(wanted - named)


def _missed(call: str, size: str, ratio: float, more: float) -> str:
    """Return the limit that is missed, or an empty text."""
    if more <= MOST or (size != "16" and ratio <= 1.1):
        return ""
    cause, times, microseconds = limit_of(call)
    return cause if more <= microseconds or (size != "16" and ratio <= times) else "MORE"


def test_limits_are_of_calls() -> None:
    assert {call for limits in LIMITS.values() for call in limits.calls} <= set(EXPRESSIONS)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("call", EXPRESSIONS)
def test_call(benchmark, one_thread, paired, report, call: str, size: str):
    tensors, arrays = (names_of(SIZES[size], of_tensors) for of_tensors in (True, False))
    code = compile(f"for _ in calls: {call}", "call", "exec")
    start = process_time()
    exec(code, tensors | {"calls": range(3)})
    calls = range(max(1, int(3 * SECONDS / (process_time() - start))))
    tensors["calls"] = arrays["calls"] = calls
    time, ratio = paired(lambda: exec(code, tensors), lambda: exec(code, arrays), 15, process_time)
    time = time / len(calls) * 1e6
    more = time - time / ratio
    benchmark.group = f"numpy {size}"
    missed = _missed(call, size, ratio, more)
    benchmark.extra_info |= {"times_numpy": round(ratio, 2), "microseconds_more": round(more, 2), "missed": missed}
    report(f"{call:<40} {size:>4} {time:10.2f} us {ratio:6.2f} x NumPy {more:+9.2f} us {missed}")
    benchmark.pedantic(lambda: exec(code, tensors), rounds=1)
