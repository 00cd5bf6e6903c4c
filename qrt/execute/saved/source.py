"""The program in a saved file: its text is read when something needs it that the saved plans do not have."""

import zlib
from collections import deque
from typing import Any

from qrt.execute.saved.values import decode
from qrt.ir import DenseElementsAttr, DenseResourceAttr, Module, parse
from qrt.ir.core.operations import garbage_uncollected


def _plain(text: Any) -> str:
    try:
        return zlib.decompress(text).decode()
    except zlib.error as error:
        raise ValueError(f"the program's text: {error}") from None


def module_of(content: Any, memory: Any, path: str) -> Module:
    """The module that was saved. Its long constants are views of the file."""
    with garbage_uncollected():
        found = decode(memoryview(content), memory)
        module = parse(_plain(found["text"]), filename=path, upstream=24)
        constants = deque(found["constants"])
        for op in module.operation.walk():
            for name, value in op.attributes.items():
                if isinstance(value, DenseResourceAttr) and value.blob.data is None:
                    op.attributes[name] = DenseElementsAttr(constants.popleft(), value.type)
    return module
