"""The words of an eager case that are no function of an op: NumPy's functions, assignment, files and measures."""

import os
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import qrt
from qrt import metrics
from qrt.tensor.protocol.table import name_of, table

METRICS = ("snr", "mse", "cosine", "max_error", "saturation")
METHODS = [name for name in dir(qrt.QuantTensor) if not name.startswith("_")]
_LEFT_OUT = ("np.savetxt", "np.empty_like")
"""One writes a file, one gives whatever a list of numbers finds in memory."""


def assigned(x: Any, key: Any, value: Any) -> Any:
    """A copy with a part of it written."""
    copy = x.copy()
    copy[key] = value
    return copy


def saved(value: Any, name: Any = "w", suffix: str = ".npz", append: Any = False) -> Any:
    """What is read of a file to which the value was written, twice if it is appended."""
    if suffix not in (".npz", ".safetensors", ".txt", ""):
        raise SyntaxError(f"no suffix {suffix!r}")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, f"a{suffix}")
        qrt.save_tensors(path, {name: value})
        if append:
            qrt.save_tensors(path, {name if append is True else append: value}, append=True)
        return sorted(qrt.load_tensors(path, mapped=False).items())


def under(mode: Any, function: Callable[..., Any], *args: Any) -> Any:
    """A call where `qrt.float_results` has this mode."""
    with qrt.float_results(mode):
        return function(*args)


def _numpy() -> Iterator[tuple[str, Callable[..., Any]]]:
    for function, entry in table().items():
        name = name_of(function)
        if not isinstance(function, tuple) and entry.kind != "refused" and name not in _LEFT_OUT:
            yield name.replace(".", "_"), function


NUMPY = dict(_numpy())
WORDS: dict[str, Any] = NUMPY | {name: getattr(metrics, name) for name in METRICS}
WORDS |= {"assigned": assigned, "saved": saved, "under": under, "values": qrt.values, "load_tensors": qrt.load_tensors}
