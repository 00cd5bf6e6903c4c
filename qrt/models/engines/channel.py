"""Messages between a process and its child: JSON, then the bytes of each array. No message is executed, as an unpickled
one might be: the child has read somebody else's file.
"""

import json
from collections.abc import Sequence
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from qrt.ops.core import Array

Message = tuple[dict[str, Any], list[Array]]


def send(connection: Connection, values: dict[str, Any], arrays: Sequence[Array] = ()) -> None:
    """Sends what JSON can hold, and arrays of numbers."""
    kinds = [(array.dtype.str, array.shape) for array in arrays]
    connection.send_bytes(json.dumps([values, kinds]).encode())
    for array in arrays:
        if array.nbytes:
            connection.send_bytes(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def receive(connection: Connection) -> Message:
    """The next message. Raises EOFError where the other side has ended."""
    values, kinds = json.loads(connection.recv_bytes())
    arrays = []
    for dtype, shape in kinds:
        array = np.empty(shape, dtype)
        if array.nbytes:
            connection.recv_bytes_into(array.reshape(-1).view(np.uint8).data)
        arrays.append(array)
    return values, arrays
