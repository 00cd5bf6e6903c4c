"""A saved file that is damaged, cut short, of another build or no file at all: each is an error that names the file."""

import os
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt._ext.kernels import checksum
from qrt.runtime.saved import container
from qrt.runtime.saved.values import decode, encode
from tests.runtime.saved.samples import OPEN, inputs_of, same, source_of

SMALL = "func.func @f(%x: tensor<2xi32>) -> tensor<2xi32> { return %x : tensor<2xi32> }"


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("saved") / "small.qrt"
    qrt.compile(SMALL).save(path)
    return path.read_bytes()


def refused(path: Path, content: bytes) -> str:
    """The message with which a file of such content is refused."""
    path.write_bytes(content)
    with pytest.raises(qrt.errors.ModelError) as caught:
        qrt.load_program(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert len(message) < len(str(path)) + 400
    return message


def test_every_byte(small: bytes, tmp_path: Path) -> None:
    draws = Random(1)
    for at in range(len(small)):
        damaged = bytearray(small)
        damaged[at] ^= 1 << draws.randrange(8)
        refused(tmp_path / "p.qrt", bytes(damaged))


def test_every_length(small: bytes, tmp_path: Path) -> None:
    for length in range(len(small)):
        refused(tmp_path / "p.qrt", small[:length])
    refused(tmp_path / "p.qrt", small + b"\0")


def test_every_bit_changes_the_checksum() -> None:
    for size in (0, 1, 7, 8, 63, 64, 65, 200):
        content = bytearray(Random(size).randbytes(size))
        seen = {checksum(bytes(content))}
        for bit in range(8 * size):
            content[bit // 8] ^= 1 << bit % 8
            seen.add(checksum(bytes(content)))
            content[bit // 8] ^= 1 << bit % 8
        assert len(seen) == 1 + 8 * size
    assert len({checksum(bytes(size)) for size in range(300)}) == 300, "a length is summed too"


def changed_header(content: bytes, offset: int, code: str, value: object) -> bytes:
    """The file with another field of its header, and the checksum that goes with it."""
    head = bytearray(content[: container.SIZE - 8])
    struct.pack_into(code, head, offset, value)
    return bytes(head) + struct.pack("=Q", checksum(bytes(head))) + content[container.SIZE :]


@pytest.mark.parametrize(
    ("offset", "code", "value", "said"),
    [
        (0, "8s", b"\x93qrt\n\n\n\n", "the file is not a saved program .Program.save writes them."),
        (8, "=I", 0x04030201, "another byte order"),
        (12, "=I", container.FORMAT + 1, "another build of qrt .*: save it again from the text of its program"),
        (16, "=Q", 12345, "another build of qrt .*: save it again from the text of its program"),
        (24, "24s", b"99.1", r"another build of qrt \(99.1, format"),
        (48, "=Q", 1 << 60, "bytes, but"),
        (56, "=Q", 1 << 62, "is damaged: its index is missing"),
        (64, "=Q", 1 << 62, "is damaged: its index is missing"),
        (64, "=Q", 8, "damaged"),
        (72, "=Q", 1, "the checksum of its content differs"),
    ],
)
def test_fields_of_the_header(small: bytes, tmp_path: Path, offset: int, code: str, value: object, said: str) -> None:
    with pytest.raises(qrt.errors.ModelError, match=said):
        raise qrt.errors.ModelError(refused(tmp_path / "p.qrt", changed_header(small, offset, code, value)))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "No such file"),
        (lambda path: path.mkdir(), "Is a directory"),
        (lambda path: os.mkfifo(path), "expected a regular file, got a pipe"),
        (lambda path: path.touch(), "the file is empty, and not a saved program"),
        (lambda path: path.write_text(SMALL), "the file is not a saved program .Program.save writes them."),
    ],
    ids=["absent", "folder", "pipe", "empty", "text"],
)
def test_what_is_no_file(make: Callable[[Path], object], said: str, tmp_path: Path) -> None:
    path = tmp_path / "p.qrt"
    make(path)
    with pytest.raises(qrt.errors.ModelError, match=f"^{path}: .*{said}"):
        qrt.load_program(path)


def test_arguments() -> None:
    with pytest.raises(qrt.errors.QuantTypeError, match="path"):
        qrt.load_program(3)  # type: ignore[arg-type]
    with pytest.raises(qrt.errors.QuantTypeError, match="path"):
        qrt.compile(SMALL).save(3)  # type: ignore[arg-type]
    with pytest.raises(qrt.errors.ModelError, match="null"):
        qrt.load_program("a\0b")


def test_what_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(qrt.errors.FileError, match="No such file"):
        qrt.compile(SMALL).save(tmp_path / "absent" / "p.qrt")
    with pytest.raises(OSError, match="directory"):
        qrt.compile(SMALL).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.qrt"
    qrt.compile(SMALL).save(path)
    before = path.read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(qrt.errors.FileError, match="No space left"):
        qrt.compile(OPEN).save(path)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


PLAIN = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False)
VALUES = st.recursive(
    PLAIN | st.text("ab é", max_size=9),
    lambda inner: st.lists(inner, max_size=12).map(tuple) | st.dictionaries(st.text("abc", min_size=1), inner),
    max_leaves=20,
)


@given(VALUES)
def test_values_are_what_they_were(value: object) -> None:
    arrays = container.Arrays()
    content = encode(value, arrays.place)
    memory = bytes(container.SIZE) + b"".join(arrays.parts)
    assert plain(decode(content, memory)) == plain(value)


def plain(value: object) -> object:
    """Arrays are the tuples that they were."""
    if isinstance(value, np.ndarray):
        return tuple(value.tolist())
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    return {key: plain(each) for key, each in value.items()} if isinstance(value, dict) else value


@given(st.binary(max_size=80), st.integers(0, 4), st.integers(0, 4))
@settings(max_examples=300)
def test_bytes_that_nobody_encoded(content: bytes, kinds: int, integers: int) -> None:
    head = struct.pack("<qqq", kinds, integers, len(content) - -(-kinds // 8) * 8 - 8 * integers)
    with suppress(ValueError, TypeError, LookupError, SyntaxError):
        decode(head + content, bytes(64))


def test_a_plan_of_another_number_of_results(tmp_path: Path) -> None:
    """What stands in the file fits its checksums: a plan says more types of results than the program has."""
    program = qrt.compile(OPEN)
    program.save(tmp_path / "p.qrt")
    loaded = qrt.load_program(tmp_path / "p.qrt")
    for fields in source_of(loaded).plan_fields.values():
        fields["results"] = (*fields["results"], *fields["results"])
    with pytest.raises(qrt.errors.ModelError, match="a plan has 1 inputs, 1 results and 2 result types"):
        loaded.run(inputs_of(program, size=1))


def test_a_file_that_is_replaced_while_it_is_mapped(tmp_path: Path) -> None:
    program = qrt.compile(OPEN)
    program.save(tmp_path / "p.qrt")
    loaded = qrt.load_program(tmp_path / "p.qrt")
    qrt.compile(SMALL).save(tmp_path / "p.qrt")
    assert same(loaded.run(inputs_of(program)), program.run(inputs_of(program)))
    (tmp_path / "p.qrt").unlink()
    assert same(loaded.run(inputs_of(program, size=3)), program.run(inputs_of(program, size=3)))
