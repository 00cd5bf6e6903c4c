"""`.npy` files as `qrt run --input` reads them. A case is the file, each character a byte."""

import io
import struct
from random import Random

import ml_dtypes
import numpy as np

from tests.fuzz import seeds
from tests.fuzz.kinds.command import run_in_process
from tests.fuzz.outcome import Finding

_PROGRAM = "func.func @main(%x: TYPE) -> TYPE {\n  return %x : TYPE\n}\n"
TYPES = (
    "tensor<?xf32>", "tensor<*xi8>", "tensor<?x?x!quant.uniform<i4:f32, 0.5>>", "tensor<2x3xbf16>", "i1",
    "memref<?xi16>",
)  # fmt: skip
_HEADERS = (
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
    "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }",
    "{'descr': '|V2', 'fortran_order': False, 'shape': (2, 3), }",
    "{'descr': [('a', '<f4'), ('b', '|O')], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (), }",
)
_WORDS = (
    "(", ")", "[", "]", "{", "}", ",", ":", "'", '"', "#", "\\", "\n", "\0", "0", "-1", "1", "True", "None", "1.5",
    "1e9",
    "2**70", str(2**31), str(2**63), str(2**64), str(2**70), "9" * 5000, "(" * 300, "'|O'", "'<f4'", "'>i2'", "'|b1'",
    "'<M8[ns]'", "'|V0'", "'|S5'", "'<U3'", "'<c8'", "'<f2'", "'<f16'", "'V99999999999'", "'<i3'", "shape", "descr",
    "lambda: 0", "__import__('os')", "\u00e9", "1L", "3_0", "0x3", "0777", "-0", "...",
)  # fmt: skip
PICKLE = b"cbuiltins\nexec\n(S'import tests.fuzz.kinds.arrays as a; a.unpickled.append(1)'\ntR."
"""Protocol 0, which runs code where it is loaded."""
unpickled: list[int] = []


def draw(draw: Random) -> str:
    base = draw.choice([_file, _file, _file, _saved, _other, _past])(draw)
    for _ in range(draw.choice((0, 0, 1, 1, 2, 3))):
        base = _changed(draw, base)
    return base.decode("latin-1")


def _file(draw: Random) -> bytes:
    """A header that is nearly right, a length that may be wrong, a body."""
    header = draw.choice(_HEADERS)
    for _ in range(draw.choice((0, 0, 1, 1, 2))):
        at = draw.randrange(len(header))
        header = header[:at] + draw.choice(_WORDS) + header[at + draw.choice((0, 1, 1, 3)) :]
    text = header.encode("utf-8", "replace") + b" " * draw.choice((0, 5, 60)) + draw.choice((b"\n", b""))
    version = draw.choice((1, 1, 1, 2, 3, 0, 4, 255))
    length = draw.choice([len(text)] * 6 + [0, 1, len(text) - 1, len(text) + 1, 65535])
    size = struct.pack("<H", length & 0xFFFF) if version == 1 else struct.pack("<I", length)
    body = draw.choice([draw.randbytes(draw.choice((0, 1, 12, 24, 100))), PICKLE, bytes(24)])
    return b"\x93NUMPY" + bytes((version, draw.choice((0, 0, 0, 1)))) + size + text + body


def _saved(draw: Random) -> bytes:
    """What NumPy itself writes."""
    shape = draw.choice(((), (0,), (3,), (2, 3), (3, 2), (0, 3), (1,) * 33))
    dtype = draw.choice(
        ("f4", ">f4", "f8", "f2", "i1", "u1", ">i2", "i4", "i8", "?", "c8", "V2", "S3", "U2", "M8[s]", "V")
    )
    array = np.ones(shape, ml_dtypes.bfloat16) if dtype == "V" else np.zeros(shape, dtype)
    written = io.BytesIO()
    draw.choice([np.save, np.save, np.save, np.savez])(written, np.asfortranarray(array))
    return written.getvalue()


def _other(draw: Random) -> bytes:
    return draw.choice(
        [b"", b"\x93NUMPY", b"PK\x03\x04" + draw.randbytes(40), PICKLE, b"\x80\x05" + PICKLE, draw.randbytes(99)]
    )


def _past(draw: Random) -> bytes:
    return draw.choice(seeds.corpus("arrays")).encode("latin-1")


def _changed(draw: Random, data: bytes) -> bytes:
    at = draw.randrange(min(len(data), 160) + 1)
    match draw.randrange(5):
        case 0:
            return data[:at]
        case 1:
            return data[:at] + draw.randbytes(draw.choice((1, 1, 2, 8))) + data[at + draw.choice((0, 1, 2)) :]
        case 2:
            return data[:at] + draw.choice(_WORDS).encode("utf-8", "replace") + data[at:]
        case 3:
            return data[:at] + data[at + draw.choice((1, 2, 8)) :]
        case _:
            return data[:at] + draw.choice(seeds.corpus("arrays")).encode("latin-1")[at:]


def check(case: str) -> str:
    """Runs a program of each type on the file: a result or one line of an error."""
    data = case.encode("latin-1", "replace")
    statuses = []
    for t in TYPES:
        files = {"p.mlir": _PROGRAM.replace("TYPE", t).encode(), "x.npy": data}
        statuses.append(run_in_process(["run", "p.mlir", "--input", "arg0=x.npy"], files).status)
        if unpickled:
            raise Finding("a pickle was loaded", repr(data))
    return "read" if 0 in statuses else "refused"
