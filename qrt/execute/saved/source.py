"""The program in a saved file: its text is read when something needs it that the saved plans do not have."""

import zlib
from collections import deque
from typing import Any

from qrt.execute.saved.index import MOST_TEXT, check_text
from qrt.execute.saved.values import decode
from qrt.ir import DenseElementsAttr, DenseResourceAttr, Module, parse
from qrt.ir.core.operations import garbage_uncollected


def _plain(compressed: Any) -> str:
    inflated = zlib.decompressobj()
    try:
        content = inflated.decompress(compressed, MOST_TEXT)
    except zlib.error as error:
        raise ValueError(f"the program's text: {error}") from None
    if not inflated.eof:
        raise ValueError(f"the program's text has no end within {MOST_TEXT} bytes")
    return content.decode()


def module_of(content: Any, memory: Any, path: str) -> Module:
    """The module that was saved. Its long constants are views of the file."""
    with garbage_uncollected():
        values = check_text(decode(memoryview(content), memory))
        module = parse(_plain(values["text"]), filename=path, upstream=24)
        constants = deque(values["constants"])
        for op in module.operation.walk():
            for name, value in op.attributes.items():
                if isinstance(value, DenseResourceAttr) and value.blob.data is None:
                    if not constants:
                        raise ValueError("the program's text has more constants than the file")
                    op.attributes[name] = DenseElementsAttr(constants.popleft(), value.type)
    return module
