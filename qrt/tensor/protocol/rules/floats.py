"""Functions whose results are not exact as quantized values, each with what to write instead.

In the hints q and r are QuantTensors, x, y and w arrays, and f is a function.
"""

from typing import Any

import numpy as np

from qrt.tensor.protocol.table import has_no_exact_result

_OF_ONE = """
arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad degrees exp exp2 expm1 floor frexp log log10
log1p log2 modf rad2deg radians reciprocal rint sin sinh spacing sqrt tan tanh trunc
angle around corrcoef cov cumprod fix gradient histogram histogram_bin_edges histogramdd i0 nan_to_num nancumprod poly
round sinc trapezoid unwrap
linalg.cholesky linalg.cond linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv
linalg.matrix_rank linalg.pinv linalg.qr linalg.slogdet linalg.svd linalg.svdvals
fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft
fft.rfft2 fft.rfftn
emath.arccos emath.arcsin emath.arctanh emath.log emath.log10 emath.log2 emath.sqrt
"""
_OF_TWO = """
arctan2 copysign divmod float_power floor_divide fmod heaviside hypot logaddexp logaddexp2 nextafter remainder
"""
_ON_STORAGE_OF_ONE = "bitwise_count invert"
_ON_STORAGE_OF_TWO = "bitwise_and bitwise_or bitwise_xor gcd lcm left_shift right_shift"
_OTHERS = {
    "cumulative_prod": "np.cumulative_prod(np.ravel(np.asarray(q)))",
    "histogram2d": "np.histogram2d(np.ravel(np.asarray(q)), np.ravel(np.asarray(r)))",
    "polyadd": "np.polyadd(np.ravel(np.asarray(q)), np.ravel(np.asarray(r)))",
    "polymul": "np.polymul(np.ravel(np.asarray(q)), np.ravel(np.asarray(r)))",
    "polysub": "np.polysub(np.ravel(np.asarray(q)), np.ravel(np.asarray(r)))",
    "ldexp": "np.ldexp(np.asarray(q), 2)",
    "apply_along_axis": "np.apply_along_axis(f, 0, np.asarray(q))",
    "apply_over_axes": "np.apply_over_axes(np.sum, np.asarray(q), [0])",
    "piecewise": "np.piecewise(np.asarray(q), [np.asarray(q) > 0], [1.0, 0.0])",
    "interp": "np.interp(np.asarray(q), x, y)",
    "polyval": "np.polyval(x, np.asarray(q))",
    "polyfit": "np.polyfit(x, np.ravel(np.asarray(q))[: x.size], 1)",
    "polyder": "np.polyder(np.ravel(np.asarray(q)))",
    "polyint": "np.polyint(np.ravel(np.asarray(q)))",
    "polydiv": "np.polydiv(np.ravel(np.asarray(q)), x)",
    "roots": "np.roots(np.ravel(np.asarray(q)))",
    "vander": "np.vander(np.ravel(np.asarray(q)))",
    "geomspace": "np.geomspace(np.asarray(q), np.asarray(r))",
    "linspace": "np.linspace(np.asarray(q), np.asarray(r))",
    "logspace": "np.logspace(np.asarray(q), np.asarray(r))",
    "linalg.solve": "np.linalg.solve(np.asarray(q), x)",
    "linalg.lstsq": "np.linalg.lstsq(np.asarray(q), x)",
    "linalg.cross": "np.linalg.cross(np.asarray(q), np.asarray(r))",
    "linalg.tensorinv": "np.linalg.tensorinv(np.asarray(q), ind=1)",
    "linalg.tensorsolve": "np.linalg.tensorsolve(np.asarray(q), x)",
    "emath.logn": "np.emath.logn(2, np.asarray(q))",
    "emath.power": "np.emath.power(np.asarray(q), 0.5)",
    "bincount": "np.bincount(np.ravel(q.storage).astype(int) - q.type.storage_min)",
    "packbits": "np.packbits(np.ravel(np.asarray(q)) > 0)",
    "unpackbits": "np.unpackbits(q.storage.view(np.uint8))",
}


def _named(path: str) -> Any:
    """A function of NumPy by its name: `exp`, `linalg.inv`."""
    found: Any = np
    for name in path.split("."):
        found = getattr(found, name)
    return found


def _hint_each(paths: str, operands: str) -> None:
    for path in paths.split():
        has_no_exact_result(_named(path), hint=f"np.{path}({operands})")


_hint_each(_OF_ONE, "np.asarray(q)")
_hint_each(_OF_TWO, "np.asarray(q), np.asarray(r)")
_hint_each(_ON_STORAGE_OF_ONE, "q.storage")
_hint_each(_ON_STORAGE_OF_TWO, "q.storage, r.storage")
for _path, _hint in _OTHERS.items():
    has_no_exact_result(_named(_path), hint=_hint)
