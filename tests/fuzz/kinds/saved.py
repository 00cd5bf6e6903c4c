"""Saved programs, damaged: loaded and run with the bits of the program that was saved, or refused with an error that
names the file. A case is the file, each character a byte. Half of them get the checksums that go with what they hold,
so that what reads the fields is reached.
"""

import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from random import Random

import qrt
from qrt._seam import _core
from qrt.errors import ModelError, QuantError
from qrt.execute.saved.container import SIZE
from tests.execute.saved.samples import OPEN, STATE, TEXTS, inputs_of
from tests.fuzz.outcome import Finding

_PLAIN = "func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { return %x : tensor<2xi32> }"
_BYTES = (0, 1, 2, 3, 7, 8, 0x7F, 0x80, 0xFE, 0xFF)
_NUMBERS = (0, 1, -1, 2, 63, 64, 127, 1 << 31, (1 << 31) - 1, 1 << 40, (1 << 63) - 1, -(1 << 63))
_STEPS = 1000


@cache
def seeds() -> tuple[bytes, ...]:
    """What is saved of a few programs."""
    with _place() as path:
        found = []
        for text in (_PLAIN, OPEN, STATE, TEXTS["everything"]):
            function = "main" if "@main" in text else None
            qrt.compile(text, function).save(path)
            with open(path, "rb") as file:
                found.append(file.read())
        return tuple(found)


@contextmanager
def _place() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, "program.qrt")


def draw(draw: Random) -> str:
    """A seed with one to three changes; some are cut short too."""
    mutant = bytearray(draw.choice(seeds()))
    index = struct.unpack_from("=Q", mutant, 56)[0]
    for _ in range(draw.choice((1, 1, 1, 2, 3))):
        begin = index if draw.random() < 0.7 else 0
        at = draw.randrange(begin, len(mutant))
        kind = draw.random()
        if kind < 0.3:
            mutant[at] ^= 1 << draw.randrange(8)
        elif kind < 0.5:
            mutant[at] = draw.choice(_BYTES)
        elif kind < 0.9:
            at -= at % 8
            if at + 8 <= len(mutant):
                (old,) = struct.unpack_from("<q", mutant, at)
                near = max(-(1 << 63), min((1 << 63) - 1, old + draw.choice((-64, -8, -2, -1, 1, 2, 8, 64))))
                struct.pack_into("<q", mutant, at, draw.choice((near, draw.choice(_NUMBERS))))
        else:
            other = draw.randrange(len(mutant))
            length = draw.choice((1, 8, 64))
            mutant[at : at + length] = mutant[other : other + length]
    if draw.random() < 0.05:
        del mutant[draw.randrange(len(mutant)) :]
    return bytes(summed(mutant) if draw.random() < 0.5 else mutant).decode("latin-1")


def summed(content: bytearray) -> bytearray:
    """The file with its length and its checksums as they must be."""
    if len(content) >= SIZE:
        struct.pack_into("=Q", content, 48, len(content))
        struct.pack_into("=Q", content, 72, _core.checksum(bytes(content[SIZE:])))
        struct.pack_into("=Q", content, SIZE - 8, _core.checksum(bytes(content[: SIZE - 8])))
    return content


def check(case: str) -> str:
    """Loads the file and runs it twice. What is damaged is a ModelError that names it; what was given a checksum may
    compute what it likes, or be refused."""
    content = case.encode("latin-1")
    with _place() as path:
        with open(path, "wb") as file:
            file.write(content)
        is_damaged = content not in seeds() and content != bytes(summed(bytearray(content)))
        try:
            program = qrt.load_program(path)
        except ModelError as error:
            if not str(error).startswith(path):
                raise Finding(f"the file is not named: {error}") from None
            return "refused"
        if is_damaged:
            raise Finding("a damaged file was loaded")
        for size in (1, 2):
            if any((extent or 0) > 1 << 12 for port in program.inputs for extent in port.type.shape or ()):
                return "large"
            try:
                program.run(inputs_of(program, size, size), max_steps=_STEPS)
            except QuantError:
                return "refused in the run"
        return "accepted"
