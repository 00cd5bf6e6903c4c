"""Functions about something else than the values of a tensor, each with what to do instead."""

import numpy as np

from qrt.tensor.protocol.table import Function, refuses, refuses_module

refuses(
    np.save,
    np.savez,
    np.savez_compressed,
    hint='qrt.save_tensors("q.npz", {"q": q}) keeps the type, np.asarray(q) has the values',
)

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
refuses(*_LIKE, hint="make the array without like=q, and qrt.quantize it to q.type")

refuses(np.ix_, np.ravel_multi_index, np.unravel_index, hint="indices are integers")
refuses(np.busday_count, np.busday_offset, np.is_busday, np.datetime_as_string, np.isnat, hint="it is about dates")
refuses(np.sort_complex, hint="np.sort(q) sorts the values")
for _module in ("numpy.strings", "numpy.char"):
    refuses_module(_module, hint="it is about text, which np.array2string(q) is")
refuses_module("numpy.lib.recfunctions", hint="it is about structured arrays, and a tensor has no fields")
