"""Hints for NumPy functions that have no exact quantized result or do not compute with values: the call to use instead.

In the hints q and r are QuantTensors, x and y arrays, and f is a function.
"""

import numpy as np

from qrt.tensor.protocol.table import has_no_exact_result, refuses, refuses_module
from qrt.tensor.protocol.written import STORAGE, VALUES

_OF_ONE = """
arccos arccosh arcsin arcsinh arctan arctanh cbrt ceil cos cosh deg2rad degrees exp exp2 expm1 floor frexp log log10
log1p log2 modf rad2deg radians reciprocal rint sin sinh spacing sqrt tan tanh trunc
angle around corrcoef cov cumprod fix gradient histogram histogram_bin_edges histogramdd i0 nan_to_num nancumprod poly
polyder polyint roots round sinc trapezoid unwrap vander
linalg.cholesky linalg.cond linalg.det linalg.eig linalg.eigh linalg.eigvals linalg.eigvalsh linalg.inv
linalg.matrix_norm linalg.matrix_rank linalg.pinv linalg.qr linalg.slogdet linalg.svd linalg.svdvals linalg.vector_norm
fft.fft fft.fft2 fft.fftn fft.hfft fft.ifft fft.ifft2 fft.ifftn fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft
fft.rfft2 fft.rfftn
emath.arccos emath.arcsin emath.arctanh emath.log emath.log10 emath.log2 emath.sqrt
"""
_OF_TWO = """
arctan2 copysign divmod float_power floor_divide fmod geomspace heaviside histogram2d hypot linalg.cross linspace
logaddexp logaddexp2 logspace nextafter polyadd polymul polysub remainder
"""
_ON_STORAGE_OF_ONE = "bincount bitwise_count invert"
_ON_STORAGE_OF_TWO = "bitwise_and bitwise_or bitwise_xor gcd lcm left_shift right_shift"
_OTHERS = {
    "cumulative_prod": "np.cumulative_prod(np.asarray(q), axis=0)",
    "ldexp": "np.ldexp(np.asarray(q), 2)",
    "apply_along_axis": "np.apply_along_axis(f, 0, np.asarray(q))",
    "apply_over_axes": "np.apply_over_axes(np.sum, np.asarray(q), [0])",
    "piecewise": "np.piecewise(np.asarray(q), [np.asarray(q) > 0], [1.0, 0.0])",
    "interp": "np.interp(np.asarray(q), x, y)",
    "polyval": "np.polyval(x, np.asarray(q))",
    "polyfit": "np.polyfit(x, np.asarray(q), 1)",
    "polydiv": "np.polydiv(np.asarray(q), x)",
    "linalg.solve": "np.linalg.solve(np.asarray(q), x)",
    "linalg.lstsq": "np.linalg.lstsq(np.asarray(q), x)",
    "linalg.matrix_power": "np.linalg.matrix_power(np.asarray(q), 2)",
    "linalg.multi_dot": "np.linalg.multi_dot([np.asarray(q), np.asarray(r)])",
    "linalg.tensorinv": "np.linalg.tensorinv(np.asarray(q), ind=1)",
    "linalg.tensorsolve": "np.linalg.tensorsolve(np.asarray(q), x)",
    "emath.logn": "np.emath.logn(2, np.asarray(q))",
    "emath.power": "np.emath.power(np.asarray(q), 0.5)",
}


def _hints(paths: str, operands: str) -> dict[str, str]:
    return {path: f"np.{path}({operands})" for path in paths.split()}


has_no_exact_result(_hints(_OF_ONE, VALUES.format("q")))
has_no_exact_result(_hints(_OF_TWO, f"{VALUES.format('q')}, {VALUES.format('r')}"))
has_no_exact_result(_hints(_ON_STORAGE_OF_ONE, STORAGE.format("q")), STORAGE)
has_no_exact_result(_hints(_ON_STORAGE_OF_TWO, f"{STORAGE.format('q')}, {STORAGE.format('r')}"), STORAGE)
has_no_exact_result({"packbits": "np.packbits(np.asarray(q) > 0)"}, VALUES + " > 0")
has_no_exact_result({"unpackbits": "np.unpackbits(q.storage.view(np.uint8))"}, STORAGE + ".view(np.uint8)")
has_no_exact_result(_OTHERS)


refuses(
    np.save,
    np.savez,
    np.savez_compressed,
    hint='qrt.save_tensors("q.npz", {"q": q}) keeps the type, np.asarray(q) has the values',
)

refuses(np.block, hint="np.concatenate joins the tensors of a row along the last axis, and then the rows")
refuses(np.trim_zeros, hint="places = np.flatnonzero(q), and q[places[0] : places[-1] + 1] has no zeros at its ends")
refuses((np.add, "reduceat"), hint="np.sum(q[i:j], axis=0) is the sum of a part")

_LIKE = """
arange array asanyarray asarray ascontiguousarray asfortranarray empty eye frombuffer fromfile fromfunction fromiter
fromstring full genfromtxt identity loadtxt ones require tri zeros
"""
refuses(
    *(getattr(np, name) for name in _LIKE.split()), hint="make the array without like=q, and qrt.quantize it to q.type"
)

refuses(np.ix_, np.ravel_multi_index, np.unravel_index, hint="its arguments are integer indices")
refuses(
    np.busday_count, np.busday_offset, np.is_busday, np.datetime_as_string, np.isnat, hint="its arguments are dates"
)
refuses(np.sort_complex, hint="np.sort(q) sorts the values")
for _module in ("numpy.strings", "numpy.char"):
    refuses_module(_module, hint="it is about text, which np.array2string(q) is")
refuses_module("numpy.lib.recfunctions", hint="it is about structured arrays, and a tensor has no fields")
