"""`.npy` files as `qrt run --input` reads them. A case is the file, each character a byte."""

import io
import struct
import tempfile
import zlib
from functools import cache
from pathlib import Path
from random import Random

import ml_dtypes
import numpy as np

import qrt
from qrt.cli.inputs import read_array
from qrt.errors import QuantError
from qrt.files import MAX_INPUT
from tests.fuzz import seeds
from tests.fuzz.kinds.command import run_in_process
from tests.fuzz.outcome import Finding, check_message, check_text

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


@cache
def _programs() -> tuple[qrt.Program, ...]:
    return tuple(qrt.compile(_text(t)) for t in TYPES)


def _text(t: str) -> str:
    return _PROGRAM.replace("TYPE", t)


def check(case: str) -> str:
    """Reads the file as the input of a program of each type, by what the command itself calls, and runs it. The command
    runs on one of the types, which the bytes choose: it reads and refuses alike. To run it on each would take many
    times as long as to read."""
    data = case.encode("latin-1", "replace")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "x.npy")
        path.write_bytes(data)
        refused = [_refused(program, str(path)) for program in _programs()]
    chosen = zlib.crc32(data) % len(TYPES)
    files = {"p.mlir": _text(TYPES[chosen]).encode(), "x.npy": data}
    ran = run_in_process(["run", "p.mlir", "--input", "arg0=x.npy"], files)
    if ran.status != refused[chosen]:
        raise Finding("the command does not do what it calls", f"{TYPES[chosen]}: {ran}")
    if ran.status:
        check_text(ran.error, "the command")
    if unpickled:
        raise Finding("a pickle was loaded", repr(data))
    return "refused" if all(refused) else "read"


def _refused(program: qrt.Program, path: str) -> bool:
    (port,) = program.inputs
    try:
        program.run({port.name: read_array(path, MAX_INPUT, port)})
    except QuantError as error:
        check_message(error)
        return True
    return False
