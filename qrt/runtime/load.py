"""Loading of saved programs, which imports neither the IR nor the planner."""

import os

from qrt.errors import ModelError, require
from qrt.runtime.program import Program
from qrt.runtime.saved.container import read
from qrt.runtime.saved.damage import DAMAGE, damaged
from qrt.runtime.saved.index import check_index
from qrt.runtime.saved.source import SavedSource


def load_program(path: str | os.PathLike[str]) -> Program:
    """Load a program that ``Program.save`` wrote. Its results have the same bits on every CPU.

    The file is mapped. Weights packed for the active instruction set are used in place; for another instruction set
    they are packed again from the file. The file has the plans for the shapes that were planned when the program was
    saved. For other shapes, and for ``timings``, ``coverage`` and ``interpret=True``, the program's text in the file is
    read when it is first needed.

    Parameters
    ----------
    path : str or PathLike
        The file. While the program is in use, the file may be replaced or removed, but not changed in place.

    Returns
    -------
    Program

    Raises
    ------
    FileError
        If the file cannot be read. This error is an OSError too.
    ModelError
        If the file is not a saved program, is damaged, or was saved by another version of qrt or on a machine of
        another byte order. Save it again from the program's text.

    Examples
    --------
    >>> import os, tempfile, qrt
    >>> path = os.path.join(tempfile.mkdtemp(), "double.qrt")
    >>> x = "tensor<2x!quant.uniform<i8:f32, 0.5>>"
    >>> text = f"func.func @double(%x: {x}) -> {x} {{ %0 = qrt.add %x, %x : ({x}, {x}) -> {x} return %0 : {x} }}"
    >>> qrt.compile(text).save(path)
    >>> program = qrt.load_program(path)
    >>> program([1, 2]).storage.tolist()
    [2, 4]
    """
    require(path, (str, os.PathLike), "load_program: 'path'", "a string or a path")
    name = os.fspath(path)
    require(name, str, "load_program: 'path'", "a string or a path")
    try:
        memory, index = read(name)
        return Program(SavedSource(name, memory, check_index(index)))
    except ModelError as error:
        if str(error).startswith(name):
            raise
        raise damaged(name, error) from None
    except DAMAGE as error:
        raise damaged(name, error) from None
