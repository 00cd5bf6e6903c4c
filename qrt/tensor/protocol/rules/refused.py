"""Functions about something else than the values of a tensor, each with what to write instead."""

import numpy as np

from qrt.tensor.protocol.table import Function, refuses, refuses_module

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

refuses(np.ix_, np.ravel_multi_index, np.unravel_index, hint="integers: indices are no QuantTensors")
refuses(np.busday_count, np.busday_offset, np.is_busday, np.datetime_as_string, np.isnat, hint="dates, not values")
refuses(np.sort_complex, hint="np.sort(q)")
for _module in ("numpy.strings", "numpy.char"):
    refuses_module(_module, hint="text, not values: np.array2string(q) is some")
refuses_module("numpy.lib.recfunctions", hint="structured arrays: a QuantTensor has no fields")
