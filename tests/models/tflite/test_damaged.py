"""Damaged files: each gives a ModelError that says where, whatever bytes changed; none is read beyond its end."""

import struct
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest
import tflite

from qrt.errors import ModelError
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Operator, Signature, Subgraph, Tensor, one_op, write

_HOSTILE = (0, 3, 0x7F, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFF0)


def _file() -> bytes:
    """A file with every kind of table that is read: vectors, strings, options, quantization, signatures."""
    x, y = Tensor((1, 4), "int8", scales=0.5, name="x", signature=(-1, 4)), Tensor((1, 2), "int8", scales=0.5)
    w = Tensor((2, 4), "int8", scales=[0.25, 0.5], data=np.arange(8).reshape(2, 4))
    operators = [
        Operator("FULLY_CONNECTED", [x, w, None], [z := Tensor((1, 2), "int8", scales=1)], {"keep_num_dims": True}),
        Operator("Mine", [z], [y], custom_options=b"abc"),
    ]
    return write([Subgraph([x], [y], operators)], [Signature({"x": x}, {"y": y})], description="made")


FILE = _file()


def _refused(content: bytes, match: str = "<bytes>") -> None:
    with pytest.raises(ModelError, match=match) as caught:
        read(content)
    assert str(caught.value).startswith("<bytes>: ")
    assert len(str(caught.value).splitlines()) == 1


def test_the_file_itself_is_read() -> None:
    assert [op.name for op in read(FILE).subgraphs[0].operators] == ["FULLY_CONNECTED", "Mine"]


def test_truncated_anywhere() -> None:
    for size in range(len(FILE) - 8):  # the last bytes may be the end of a vector's padding
        _refused(FILE[:size])


def test_any_word_changed() -> None:
    """Offsets, vtables and lengths out of range, and values that no field may have."""
    accepted = 0
    for at in range(0, len(FILE) - 3, 4):
        for value in _HOSTILE:
            try:
                read(FILE[:at] + struct.pack("<I", value) + FILE[at + 4 :])
                accepted += 1
            except ModelError:
                pass
    assert 0 < accepted < len(FILE)  # some words are names, data or padding


@pytest.mark.parametrize("identifier", [b"TFL2", b"ONNX", b"\0\0\0\0"])
def test_another_identifier(identifier: bytes) -> None:
    _refused(FILE[:4] + identifier + FILE[8:], "not a TFLite model: its identifier")


@pytest.mark.parametrize("version", [0, 2, 4])
def test_another_version(version: int) -> None:
    _refused(write([Subgraph([], [], [])], version=version), f"its schema must have version 3, got {version}")


# -- tables in other places than they say ----------------------------------------------------------------------------


def _u32(content: bytes, at: int) -> int:
    return int(struct.unpack_from("<I", content, at)[0])


def _places() -> dict[str, int]:
    """Where the file's root, its vtable, and the distance of its vector of subgraphs stand."""
    root = _u32(FILE, 0)
    vtable = root - struct.unpack_from("<i", FILE, root)[0]
    field = root + struct.unpack_from("<H", FILE, vtable + 4 + 2 * 2)[0]  # the third field
    return {"root": root, "vtable": vtable, "field": field, "vector": field + _u32(FILE, field)}


def _patched(at: int, code: str, value: int) -> bytes:
    return FILE[:at] + struct.pack(code, value) + FILE[at + struct.calcsize(code) :]


def _hostile_tables() -> Iterator[tuple[str, bytes, str]]:
    at = _places()
    yield "the root beyond the end", _patched(0, "<I", len(FILE)), "the file is damaged or cut short: it has 992"
    yield "a table that is its own vtable", _patched(at["root"], "<i", 0), "the file is damaged: the vtable at byte"
    yield (
        "a vtable before the file",
        _patched(at["root"], "<i", at["root"] + 4),
        "the file is damaged or cut short: it has",
    )
    yield "a vtable of odd size", _patched(at["vtable"], "<H", 7), "an even number of bytes, at least 4, got 7"
    yield "a vtable beyond the end", _patched(at["vtable"], "<H", 0xFFFE), "the file is damaged or cut short: it has"
    yield (
        "a table smaller than its fields",
        _patched(at["vtable"] + 2, "<H", 4),
        "field .* is at byte .* of a table of 4 bytes",
    )
    yield (
        "a field outside its table",
        _patched(at["vtable"] + 8, "<H", 0xFFF0),
        "the file is damaged: field 'subgraphs' is at byte 65520",
    )
    yield "a length of billions", _patched(at["vector"], "<I", 0xFFFFFFFF), "refers to 17179869180 bytes from byte"
    inward = at["root"] - (at["vector"] + 4)
    yield "a table that refers to itself", _patched(at["vector"] + 4, "<i", inward), "subgraph 0"


@pytest.mark.parametrize(("content", "said"), [pytest.param(*case, id=name) for name, *case in _hostile_tables()])
def test_tables_out_of_place(content: bytes, said: str) -> None:
    _refused(content, said)


def test_a_later_field_of_an_option_is_not_overlooked(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a field of a later schema says may change what an operator computes."""
    monkeypatch.setattr(tflite, "SoftmaxOptionsStart", lambda builder: builder.StartObject(2))
    add = lambda builder, value: builder.PrependInt32Slot(1, value, 0)  # noqa: E731
    monkeypatch.setattr(tflite, "SoftmaxOptionsAddLater", add, raising=False)
    x, y = Tensor((1, 4), "float32"), Tensor((1, 4), "float32")
    assert read(one_op("SOFTMAX", [x], [y], {"beta": 1.0, "later": 0})).subgraphs[0].operators[0].options == {
        "beta": 1.0
    }
    _refused(
        one_op("SOFTMAX", [x], [y], {"beta": 1.0, "later": 1}),
        "its table SoftmaxOptions has a field that qrt does not know",
    )


# -- memory ----------------------------------------------------------------------------------------------------------


def test_one_table_that_is_named_many_times() -> None:
    """A vector of offsets to one table would become as many objects of a kilobyte, of 4 bytes each in the file."""
    count, vector = 1 << 14, 36
    table = vector + 4 + 4 * count + 4  # behind its vtable of 4 bytes
    content = b"".join(
        [
            struct.pack("<I4s", 24, b"TFL3"),
            struct.pack("<5H6x", 10, 12, 4, 0, 8),  # the vtable of a model that has a version and subgraphs
            struct.pack("<iII", 16, 3, 4),
            struct.pack("<I", count),
            *(struct.pack("<I", table - (vector + 4 + 4 * i)) for i in range(count)),
            struct.pack("<HHi", 4, 4, 4),
        ]
    )
    tracemalloc.start()
    with pytest.raises(ModelError, match=r"the tables up to this one take more memory than the limit of 4194304"):
        read(content, max_bytes=1 << 22)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < (1 << 22) + 4 * len(content)


def test_a_model_whose_tensors_take_more_than_the_limit() -> None:
    x, y = Tensor((1 << 20, 64), "float32"), Tensor((1 << 20, 64), "float32")
    file = write([Subgraph([x], [y], [Operator("ABS", [x], [y])])])
    assert read(file).subgraphs[0].tensors[0].shape == (1 << 20, 64)
    with pytest.raises(ModelError, match=r"its tensors take 536870912 bytes, more than the limit of 536870911"):
        read(file, max_bytes=(1 << 29) - 1)
