"""Functions about something else than the values of a tensor, each with what to write instead."""

import numpy as np

from qrt.tensor.protocol.table import Function, refuses

refuses(np.save, hint="qrt.save_tensors(path, {...}), which keeps the type, or np.save(path, np.asarray(q))")
refuses(np.savez, np.savez_compressed, hint="qrt.save_tensors(path, {...}), or np.savez(path, name=np.asarray(q))")

_LIKE: tuple[Function, ...] = (
    np.array,
    np.asarray,
    np.asanyarray,
    np.ascontiguousarray,
    np.asfortranarray,
    np.require,
    np.fromiter,
)
_LIKE += (np.empty, np.zeros, np.ones, np.full, np.arange, np.eye, np.identity, np.tri, np.fromfunction, np.frombuffer)
_LIKE += (np.fromfile, np.fromstring, np.loadtxt, np.genfromtxt)
refuses(*_LIKE, hint="qrt.quantize(values, q.type) instead of like=q")

refuses(np.apply_along_axis, np.apply_over_axes, np.piecewise, hint="a loop over the tensor, or give np.asarray(q)")
refuses(np.ix_, np.ravel_multi_index, np.unravel_index, hint="integers: indices are no QuantTensors")
refuses(np.bincount, np.packbits, np.unpackbits, hint="q.storage, the integers")
refuses(np.busday_count, np.busday_offset, np.is_busday, np.datetime_as_string, np.isnat, hint="dates")
refuses(np.linspace, np.geomspace, np.logspace, hint="Python numbers: q.item() is one")
refuses(np.einsum_path, hint="np.einsum_path(subscripts, np.asarray(a), ...)")

_BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.bitwise_count)
refuses(*_BITS, np.gcd, np.lcm, hint="q.storage, the integers")
