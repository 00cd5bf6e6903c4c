"""Files as the package `onnx` reads them, field by field, and as nothing reads them."""

from typing import Any

import numpy as np
import onnx
import pytest
from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

from qrt.errors import ModelError
from qrt.models.onnx.protobuf import FIELDS, ONE_OF, Message, _integers, _MalformedField, parse
from tests.models.onnx.writing import model, node, port

_ENUMERATED = {"type": range(15), "data_location": range(2)}
"""Fields of which protobuf takes a number that it does not know for none."""


def parsed(content: bytes) -> Message:
    return parse(content, "m.onnx", 1 << 28)


def drawn(seed: int = 0) -> bytes:
    """A model with every kind of field."""
    rng = np.random.default_rng(seed)
    tensors = [
        onnx.TensorProto(name="r", data_type=1, dims=[2, 3], raw_data=rng.bytes(24)),
        onnx.TensorProto(name="f", data_type=1, dims=[3], float_data=rng.normal(size=3)),
        onnx.TensorProto(name="d", data_type=11, dims=[2], double_data=rng.normal(size=2)),
        onnx.TensorProto(name="i", data_type=6, dims=[3], int32_data=[-1, 127, 128]),
        onnx.TensorProto(name="l", data_type=7, dims=[4], int64_data=[-(2**63), 2**63 - 1, 0, 300]),
        onnx.TensorProto(name="u", data_type=13, dims=[2], uint64_data=[2**64 - 1, 1]),
        onnx.TensorProto(name="s", data_type=8, dims=[1], string_data=[b"\xff"]),
        onnx.TensorProto(
            name="e", data_type=1, dims=[1], data_location=onnx.TensorProto.EXTERNAL, doc_string="far away"
        ),
    ]
    tensors[-1].external_data.add(key="location", value="w.bin")
    inner = onnx.GraphProto(name="inner", node=[node("Neg", ["a"], ["b"])])
    made = node("Strange", ["x", "", "é"], ["y"], f=-0.0, i=-7, s="text", t=tensors[0], g=inner, fs=[1.5, float("nan")],
                n=[1, -2, 2**40], ss=["a", "b"])  # fmt: skip
    opsets = [onnx.helper.make_opsetid("", 17)]
    function = onnx.helper.make_function("own", "F", ["a"], ["b"], [made], opsets, ["zeros"])
    found: bytes = model([made], [port("x", shape=("n", 3))], [port("y")], functions=[function])
    message = onnx.ModelProto.FromString(found)
    message.graph.initializer.extend(tensors)
    message.metadata_props.add(key="k", value="v")
    return bytes(message.SerializeToString())


def assert_same(ours: Message, theirs: Any) -> None:
    """Compares every field that is read."""
    kind = type(ours).__name__
    for entry in filter(None, FIELDS[kind].split(",")):
        _, name, what = entry.split()
        mine, other = getattr(ours, name), getattr(theirs, name)
        if name in _ENUMERATED and mine not in _ENUMERATED[name]:
            continue
        if what.startswith("*"):
            assert len(mine) == len(other), name
            pairs = list(zip(mine, other, strict=True))
        else:
            assert ours.has(name) == theirs.HasField(name), name
            pairs = [(mine, other)] * ours.has(name)
        for one, two in pairs:
            if isinstance(one, Message):
                assert_same(one, two)
            elif isinstance(one, (float, np.floating)):
                assert np.float64(one).tobytes() == np.float64(two).tobytes() or (one != one and two != two)
            elif isinstance(one, (int, np.integer)):
                assert int(one) == two or int(one) & 0xFFFFFFFF == two & 0xFFFFFFFF
            else:
                assert (one.encode() if isinstance(one, str) else bytes(one)) == (
                    two.encode() if isinstance(two, str) else two
                )
    if kind in ONE_OF:
        assert ours.chosen is None or ours.chosen == theirs.WhichOneof("value")


def test_every_field_is_as_protobuf_reads_it() -> None:
    content = drawn()
    assert_same(parsed(content), onnx.ModelProto.FromString(content))


def test_bytes_that_are_changed_mean_the_same_or_are_refused() -> None:
    """A file that protobuf reads and that is read here says the same."""
    content, rng = drawn(), np.random.default_rng(1)
    both = 0
    for _ in range(400):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), rng.integers(1, 4)):
            changed[place] = rng.integers(0, 256)
        try:
            ours = parsed(bytes(changed))
            theirs = onnx.ModelProto.FromString(bytes(changed))
        except (ModelError, DecodeError):
            continue
        assert_same(ours, theirs)
        both += 1
    assert both > 60


def test_every_truncation_inside_a_field_is_refused() -> None:
    """What protobuf cannot read cut short is refused here too: all of these fields are read."""
    content = drawn()
    refused = 0
    for size in range(0, len(content), 3):
        try:
            theirs = onnx.ModelProto.FromString(content[:size])
        except DecodeError:
            refused += 1
            with pytest.raises(ModelError):
                parsed(content[:size])
        else:
            assert_same(parsed(content[:size]), theirs)
    assert refused > 50


def test_a_message_that_stands_there_twice_has_the_fields_of_both() -> None:
    graphs = [onnx.GraphProto(name="a", node=[node("Neg", ["x"], ["y"])]), onnx.GraphProto(node=[node("Abs", [], [])])]
    content = b"".join(onnx.ModelProto(graph=graph).SerializeToString() for graph in graphs)
    found = parsed(content)
    assert_same(found, onnx.ModelProto.FromString(content))
    assert [each.op_type for each in found.graph.node] == ["Neg", "Abs"]


def test_the_last_of_several_kinds_counts() -> None:
    sizes = [onnx.TensorShapeProto.Dimension(dim_value=3), onnx.TensorShapeProto.Dimension(dim_param="n")]
    for order in (sizes, sizes[::-1]):
        dimension = b"".join(each.SerializeToString() for each in order)
        theirs = onnx.TensorShapeProto.Dimension.FromString(dimension)
        shape = bytes([10, len(dimension)]) + dimension
        content = _nested([7, 11, 2, 1, 2], shape)
        found = parsed(content).graph.input[0].type.tensor_type.shape.dim[0]
        assert found.chosen == theirs.WhichOneof("value")


def _nested(numbers: list[int], content: bytes) -> bytes:
    """Bytes in messages in fields of these numbers, the outermost first."""
    for number in reversed(numbers):
        content = bytes([number << 3 | 2, len(content)]) + content
    return content


def test_numbers_stand_together_or_one_by_one() -> None:
    """Protobuf reads both, whatever the schema says, and both in one field."""
    together, alone = bytes([7 << 3 | 2, 3, 5, 172, 2]), bytes([7 << 3, 6])
    for tensor in (together, alone, together + alone, alone + together, together + together):
        theirs = onnx.TensorProto.FromString(tensor)
        found = parsed(_nested([7, 5], tensor)).graph.initializer[0]
        assert list(found.int64_data) == list(theirs.int64_data)


@pytest.mark.parametrize("count", [0, 1, (1 << 16) - 1, 1 << 16, (1 << 16) + 1, 200_000])
def test_numbers_around_a_block(count: int) -> None:
    rng = np.random.default_rng(count)
    values = (rng.integers(0, 1 << 64, count, np.uint64) >> rng.integers(0, 64, count, np.uint64)).tolist()
    written = onnx.TensorProto(uint64_data=values).SerializeToString()
    start = len(written) - sum(max(1, -(-value.bit_length() // 7)) for value in values)
    assert _integers(np.frombuffer(written[start:], np.uint8)).tolist() == values


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"\x08", "ir_version: the number at byte 1 is cut short"),
        (b"\x08" + b"\xff" * 11, "ir_version: the number at byte 1 has more than 10 bytes"),
        (b"\x3a\x05", "graph: 5 bytes are expected at byte 2, but the message ends at byte 2"),
        (b"\x3a\x03\x12\x02\x41", "graph, name: 2 bytes are expected at byte 4, but the message ends at byte 5"),
        (_nested([7, 2], b"\xff"), "graph, name: it must be UTF-8 text: invalid start byte"),
        (b"\x0a\x00", "field 1 has the unknown wire type 2"),
        (b"\x00", "field 0 has"),
        (b"\x7b", "field 15 has the unknown wire type 3"),
        (
            _nested([7, 5, 4], b"123"),
            "graph, initializer 0, float_data 0: a list of numbers of 4 bytes each cannot have 3 bytes",
        ),
        (_nested([7, 5, 7], b"\x80"), "its last number is cut short"),
        (_nested([7, 5, 7], b"\x80" * 11 + b"\x01"), "more than 10 bytes"),
    ],
)
def test_damage_is_named(content: bytes, said: str) -> None:
    with pytest.raises(ModelError) as raised:
        parsed(content)
    assert said in str(raised.value)


def test_messages_in_messages_are_bounded() -> None:
    content = b""
    for _ in range(40):
        content = _long(1, _long(5, _long(6, content)))
    content = _long(7, content)
    with pytest.raises(ModelError, match="messages must be nested at most 100 deep, got deeper ones"):
        parsed(content)


def _long(number: int, content: bytes) -> bytes:
    size, length = len(content), b""
    while size > 127:
        size, length = size >> 7, length + bytes([size & 127 | 128])
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


@pytest.mark.parametrize("number", [1, 5, 11, 15])
def test_memory_is_bounded(number: int) -> None:
    """Messages and texts of two bytes take hundreds of bytes as objects."""
    content = _long(7, bytes([number << 3 | 2, 0]) * 10**5)
    with pytest.raises(
        ModelError, match=r"^m\.onnx: graph, \w+ 2270: .* takes more memory than the limit of 1000000 bytes"
    ):
        parse(content, "m.onnx", 10**6)


def test_integers_refuse_what_does_not_end() -> None:
    with pytest.raises(_MalformedField):
        _integers(np.array([128], np.uint8))
