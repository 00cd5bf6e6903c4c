"""Saved programs, damaged: loaded and run with the bits of the program that was saved, or refused with an error that
names the file. A case is the file, each character a byte. Some have other bytes, and half of them get the checksums
that go with what they hold, so that what reads the fields is reached. The others have other values, as they are
decoded, encoded again with the checksums that fit: what somebody writes who wants to be believed.
"""

import os
import struct
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from math import prod
from random import Random

import qrt
from qrt._ext.kernels import checksum
from qrt.errors import ModelError, QuantError
from qrt.runtime import Program
from qrt.runtime.saved.container import SIZE
from tests.fuzz.kinds import saved_draw
from tests.fuzz.outcome import Finding, check_message
from tests.runtime.saved.crafted import Index, one_calls, pack, unpacked
from tests.runtime.saved.samples import LOOP, OPEN, STATE, TEXTS, inputs_of, source_of

_PLAIN = "func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { return %x : tensor<2xi32> }"
_BYTES = (0, 1, 2, 3, 7, 8, 0x7F, 0x80, 0xFE, 0xFF)
_NUMBERS = (0, 1, -1, 2, 63, 64, 127, 1 << 31, (1 << 31) - 1, 1 << 40, (1 << 63) - 1, -(1 << 63))
_STEPS = 1000
_MOST_ELEMENTS = 1 << 20
_MOST_BYTES = 1 << 24


@cache
def seeds() -> tuple[bytes, ...]:
    """What is saved of a few programs."""
    with _place() as path:
        files = []
        for text in (_PLAIN, OPEN, STATE, TEXTS["everything"]):
            _save(text, path)
            files.append(_content(path))
        return tuple(files)


@cache
def indices() -> tuple[Index, ...]:
    """The values of a few saved programs, and of one for each entry."""
    with _place() as path:
        values = []
        for text in (OPEN, STATE, LOOP, TEXTS["everything"]):
            _save(text, path)
            values.append(unpacked(path))
    return (*values, *(one.index() for one in one_calls()))


def _save(text: str, path: str) -> None:
    qrt.compile(text, "main" if "@main" in text else None).save(path)


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


@contextmanager
def _place() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        yield os.path.join(folder, "program.qrt")


def draw(draw: Random) -> str:
    """A file with other bytes, or with other values."""
    return (_with_bytes(draw) if draw.random() < 0.3 else _with_values(draw)).decode("latin-1")


def _with_values(draw: Random) -> bytes:
    chance = draw.random()
    if chance < 0.45:
        index = saved_draw.bound(draw.choice(one_calls()), draw)
    else:
        index = saved_draw.changed(draw.choice(indices()[:4] if chance < 0.6 else indices()), draw)
    with _place() as path:
        pack(path, index)
        return _content(path)


def _with_bytes(draw: Random) -> bytes:
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
    return bytes(summed(mutant) if draw.random() < 0.5 else mutant)


def summed(content: bytearray) -> bytearray:
    """The file with its length and its checksums as they must be."""
    if len(content) >= SIZE:
        struct.pack_into("=Q", content, 48, len(content))
        struct.pack_into("=Q", content, 72, checksum(bytes(content[SIZE:])))
        struct.pack_into("=Q", content, SIZE - 8, checksum(bytes(content[: SIZE - 8])))
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
            check_message(error)
            return "refused"
        if is_damaged:
            raise Finding("a damaged file was loaded")
        for size in (1, 2):
            if _is_large(program):
                return "large"
            try:
                inputs = inputs_of(program, size, size)
                program.run(inputs, max_steps=_STEPS)
                if not _has_loops(program):  # they are not limited here
                    program.run(inputs)
                program.run(inputs, interpret=True, max_steps=_STEPS)
            except QuantError as error:
                check_message(error)
                return "refused in the run"
        return "accepted"


def _is_large(program: Program) -> bool:
    """Whether a run takes long, or much memory."""
    elements = sum(
        prod(extent or 1 for extent in port.type.shape or ()) for port in (*program.inputs, *program.outputs)
    )
    return elements > _MOST_ELEMENTS or any(
        plan["counts"][2] > _MOST_BYTES for plan in source_of(program).plan_fields.values()
    )


def _has_loops(program: Program) -> bool:
    return any(name == "bind_control" for plan in source_of(program).plan_fields.values() for name, _ in plan["calls"])
