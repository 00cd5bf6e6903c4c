"""Model files given as a path or as bytes."""

import mmap
import os

import numpy as np
import numpy.typing as npt

import qrt.files as files
from qrt.errors import FileError, require

Source = str | os.PathLike[str] | bytes
"""The path of a file, which is mapped and must not change while the model is used; or the bytes of a file."""


def mapped(source: Source) -> tuple[str, npt.NDArray[np.uint8]]:
    """Return the file's name for error messages, and its content as a read-only, memory-mapped array.

    Raise FileError, which is an OSError too, if the file cannot be read, and QuantTypeError if ``source`` has a wrong
    type.

    >>> name, data = mapped(b"TFL3")
    >>> name, data.tobytes()
    ('<bytes>', b'TFL3')
    """
    if isinstance(source, bytes):
        return "<bytes>", np.frombuffer(source, np.uint8)
    require(source, (str, os.PathLike), "the path of a model", "a string, a PathLike or bytes")
    name = str(os.fspath(source))
    try:
        with files.open_regular(name) as file:
            if not os.fstat(file.fileno()).st_size:  # an empty file cannot be mapped
                return name, np.empty(0, np.uint8)
            return name, np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{name}: {files.reason(error)}") from None
