"""Reading of the program's text in a saved file, for everything that the saved plans do not have."""

import zlib
from collections import deque
from typing import Any

from qrt.ir import DenseElementsAttr, DenseResourceAttr, Module, parse
from qrt.ir.core.operations import garbage_uncollected
from qrt.runtime.saved.index import MOST_TEXT, check_text
from qrt.runtime.saved.values import decode


def _plain(compressed: Any) -> str:
    inflated = zlib.decompressobj()
    try:
        content = inflated.decompress(compressed, MOST_TEXT + 1)
    except zlib.error as error:
        raise ValueError(f"the program's text: {error}") from None
    if len(content) > MOST_TEXT:
        raise ValueError(f"the program's text has more than {MOST_TEXT} bytes")
    if not inflated.eof:
        raise ValueError("the program's text is truncated")
    try:
        return content.decode()
    except UnicodeDecodeError:
        raise ValueError("the program's text is not UTF-8") from None


def module_of(content: Any, memory: Any, path: str) -> Module:
    """Return the saved module. Its long constants are views of the file."""
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
