"""Writing tensors by name to a file, and reading them."""

import os
from collections.abc import Mapping
from typing import Any

import numpy as np  # noqa: F401 - for the examples
import numpy.typing as npt

import qrt.files as files
from qrt.errors import FileError, ModelError, QuantTypeError, check_signature, require, shown
from qrt.tensor import QuantTensor, npz, safetensors
from qrt.tensor.file_entries import as_entry, from_entry

_FORMATS = {".npz": npz, ".safetensors": safetensors}
Path = str | os.PathLike[str]


@check_signature
def save_tensors(path: Path, tensors: Mapping[str, QuantTensor | npt.ArrayLike], *, append: bool = False) -> None:
    """Write tensors and arrays by name to one file, the type of each tensor as MLIR text. Nothing is pickled.

    In an ``.npz`` file, ``np.load(path)["w"]`` is the storage of ``w`` (its packed bytes, for widths of 1, 2 and 4) and
    ``np.load(path)["w.mlir"]`` the text of its type. In a ``.safetensors`` file the texts are metadata, under
    ``"qrt.type.w"``.

    Parameters
    ----------
    path : str or PathLike
        A file whose name ends in ``.npz`` or ``.safetensors``. A file that exists is replaced when the new one is
        complete.
    tensors : mapping of str to QuantTensor or array_like
        Arrays are of numbers: booleans, integers, floats (bf16 and the small ones too) or, in ``.npz``, complex.
    append : bool, default False
        True keeps what the file holds. The new names must differ from those in the file.

    Raises
    ------
    QuantTypeError
        If a value is not a tensor or array of numbers, or a name is not a string, is empty or ends in ``.mlir``.
    ModelError
        If the file's name ends otherwise, or with ``append``, if the file has one of the names or is of another format.
    FileError
        If the file cannot be written. It is an OSError too.
    ImportError
        If ``.safetensors`` is written without the package, which ``pip install "qrt[safetensors]"`` installs.

    Examples
    --------
    >>> import os, tempfile, qrt
    >>> path = os.path.join(tempfile.mkdtemp(), "layer.npz")
    >>> w = qrt.quantize([[1.0, -0.5]], qrt.UniformType("i4", "f32", 0.25))
    >>> save_tensors(path, {"w": w})
    >>> save_tensors(path, {"b": np.float32([2])}, append=True)
    >>> np.asarray(load_tensors(path)["w"]).tolist(), load_tensors(path)["b"].tolist()
    ([[1.0, -0.5]], [2.0])
    """
    name, form = _file(path)
    require(tensors, Mapping, "save_tensors: 'tensors'", "a mapping from names to tensors")
    entries = {_checked(key): as_entry(key, value) for key, value in tensors.items()}
    if append and os.path.exists(name):
        present = form.read(name, mapped=True, max_bytes=None)
        if common := present.keys() & entries.keys():
            names = ", ".join(map(shown, sorted(common)))
            raise ModelError(f"{name}: the names of appended tensors must not be in the file already, got {names}")
        entries = present | entries
    files.write_files([(name, lambda file: form.write(file, entries))])


@check_signature
def load_tensors(path: Path, *, mapped: bool = True, max_bytes: int | None = None) -> dict[str, Any]:
    """Read the tensors and arrays of a file that ``save_tensors`` or other software wrote.

    Parameters
    ----------
    path : str or PathLike
        A file whose name ends in ``.npz`` or ``.safetensors``.
    mapped : bool, default True
        True reads each tensor from the file when it is used: the file must not change, and the tensors are read-only.
        False reads the whole file at once. Compressed members of an ``.npz`` file are always read at once.
    max_bytes : int, optional
        The most bytes that are read into memory; mapped bytes do not count. If not given, 1 GiB, or the size of the
        file if that is larger. Give a limit for a file whose compressed members need more.

    Returns
    -------
    dict of str to QuantTensor or ndarray
        In the order of the file.

    Raises
    ------
    ModelError
        If the file's name ends otherwise, the file is incomplete or of another format, a type does not fit its array,
        storage is out of the bounds of its type, or there are more bytes than ``max_bytes``.
    FileError
        If the file cannot be read, or is a pipe or a device. It is an OSError too.
    QuantTypeError
        If an argument is of another type.
    ImportError
        If ``.safetensors`` is read without the package, which ``pip install "qrt[safetensors]"`` installs.

    Examples
    --------
    >>> load_tensors("weights.bin")
    Traceback (most recent call last):
    qrt.errors.ModelError: weights.bin: the name of a file of tensors must end in .npz or .safetensors
    """
    name, form = _file(path)
    require(mapped, bool, "load_tensors: 'mapped'", "True or False")
    if max_bytes is not None and (type(max_bytes) is not int or max_bytes < 0):
        raise QuantTypeError(
            f"load_tensors: 'max_bytes' must be a non-negative integer or None, got {shown(max_bytes)}"
        )
    try:
        entries = form.read(name, mapped=mapped, max_bytes=max_bytes)
        return {key: from_entry(key, entry) for key, entry in entries.items()}
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{name}: {files.reason(error)}") from None
    except ModelError as error:
        text = str(error)
        raise ModelError(text if text.startswith(name) else f"{name}: {text}") from None


def _file(path: Path) -> tuple[str, Any]:
    require(path, (str, os.PathLike), "the path of a file of tensors", "a string or a PathLike")
    name = str(os.fspath(path))
    form = _FORMATS.get(os.path.splitext(name)[1])
    if form is None:
        raise ModelError(f"{name}: the name of a file of tensors must end in {' or '.join(_FORMATS)}")
    return name, form


def _checked(name: object) -> str:
    if not isinstance(name, str) or not name or name.endswith(npz._TEXT):
        raise QuantTypeError(
            f"save_tensors: the name of a tensor must be a string that does not end in .mlir, got {shown(name)}"
        )
    return name
