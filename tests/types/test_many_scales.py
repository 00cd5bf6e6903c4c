"""Types of many scales. Hazards: a list that is read at once and becomes another type, or another error, than one that
is read number by number; a Python step for each scale; a text that is shortened where it must be whole."""

import pickle
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt import UniformType
from qrt.errors import ParseError, QuantTypeError, shortened
from qrt.types import FloatType, FunctionType, TensorType, TupleType, parse_type
from qrt.types.quantile import QuantileType
from qrt.types.quantized_parser import QuantizedTypeParser

SCALES = st.lists(st.floats(2.0**-120, 2.0**120), min_size=17, max_size=40)
ZERO_POINTS = st.integers(-(10**18) + 1, 10**18 - 1)


def blocks(shape=(16, 256), zero_points=None, expressed="f32"):
    scales = np.random.default_rng(3).uniform(0.0042, 0.0121, shape)
    return UniformType("i4", expressed, scales, zero_points, block_sizes={0: 32, 1: 1})


@pytest.fixture
def one_by_one(monkeypatch):
    """Runs a function while lists are read number by number."""

    def run(work):
        with monkeypatch.context() as patch:
            patch.setattr(QuantizedTypeParser, "_plain_scales", lambda self, expressed: None)
            return work()

    return run


def outcome(text):
    try:
        return parse_type(text)
    except ParseError as error:
        return str(error), error.location.start, error.location.end


@settings(max_examples=40)
@given(SCALES, st.data(), st.booleans(), st.sampled_from(["f64", "f32", "f16"]))
def test_a_printed_type_is_read_as_itself(scales, data, per_axis, expressed):
    count = len(scales)
    zeros = data.draw(st.none() | st.lists(ZERO_POINTS, min_size=count, max_size=count))
    if expressed == "f16":
        scales = [max(min(scale, 2.0**15), 2.0**-20) for scale in scales]
    if per_axis:
        t = UniformType("i8", expressed, scales, zeros, axis=1)
    else:
        t = UniformType("i8", expressed, [scales], None if zeros is None else [zeros], block_sizes={1: 4})
    assert parse_type(str(t)) is t
    assert pickle.loads(pickle.dumps(t)) is t
    assert (t.scales, t.zero_points) == (
        tuple(t.scale_array.ravel().tolist()),
        tuple(t.zero_point_array.ravel().tolist()),
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace(", ", " ,\n\t"),
        lambda text: text.replace("{{", "{ // the scales\n{"),
        lambda text: text.replace("}}", "},{0.5}}"),
        lambda text: text.replace("}, {", "}, 0.5, {", 1),
        lambda text: text.replace("}}", "}, {}}"),
        lambda text: text.replace("}}", "}"),
        lambda text: text.replace("}}>", "}}"),
        lambda text: text.replace("}}>", "}}}>"),
        lambda text: text.replace(", 0.", ", -0.", 1),
        lambda text: text.replace(", 0.", ", .", 1),
        lambda text: text.replace(", 0.", ", 0", 1),
        lambda text: text.replace(", 0.", ", 1e5, 0.", 1),
        lambda text: text.replace(", 0.", ", 1.0e99, 0.", 1),
        lambda text: text.replace(", 0.", ", 0.0, 0.", 1),
        lambda text: text.replace(", 0.", ", 0x3FE0000000000000, 0.", 1).replace("}, {", "}, {0.5, ", 1),
        lambda text: text.replace(", 0.", ", 0xBFE0000000000000, 0.", 1).replace("}, {", "}, {0.5, ", 1),
        lambda text: text.replace(", 0.", ", 0x7FF8000000000000, 0.", 1).replace("}, {", "}, {0.5, ", 1),
        lambda text: text.replace(", 0.", ", 0x0, 0.", 1).replace("}, {", "}, {0.5, ", 1),
        lambda text: text.replace(", 0.", ":3, 0.", 1),
        lambda text: text.replace(", 0.", ":99999999999999999999, 0.", 1),
        lambda text: text.replace(", 0.", ": - 3, 0.", 1),
        lambda text: text.replace("}}", "x}}"),
        lambda text: text.replace("{{", "{" * 70),
        lambda text: text[: len(text) // 2],
        lambda text: text.replace(":{0:32, 1:1}", ":0"),
        lambda text: text.replace(":{0:32, 1:1}", ""),
    ],
)
def test_a_text_means_the_same_read_at_once_and_one_by_one(one_by_one, change):
    text = change(str(blocks((4, 24))))
    assert outcome(text) == one_by_one(lambda: outcome(text))


def test_nothing_runs_for_each_scale():
    zeros = np.arange(4096).reshape(16, 256) % 15 - 7
    t = blocks(zero_points=zeros)
    text, pickled = str(t), pickle.dumps(t)
    nested, nested_zeros = blocks((16, 255)).scale_array.tolist(), zeros[:, 1:].tolist()
    steps = {
        "an array": lambda: blocks((16, 257)),
        "lists": lambda: UniformType("i4", "f32", nested, nested_zeros, block_sizes={0: 32, 1: 1}),
        "shown": t.shown,
        "printed": UniformType("i4", "f32", np.full(4096, 0.1), axis=0).__str__,
        "pickled": lambda: pickle.dumps(t),
        "unpickled": lambda: pickle.loads(pickled),
        "parsed": lambda: parse_type(text.replace("u4", "u5")),
    }
    for name, step in steps.items():
        calls = 0

        def count(frame, event, argument):
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            step()
        finally:
            sys.setprofile(None)
        assert calls < 400, name


# -- in short ----------------------------------------------------------------------------------------------------------


def test_many_scales_are_shown_in_short_and_printed_whole():
    t = UniformType("i4", "f32", np.linspace(0.0042, 0.0121, 128 * 4096).reshape(128, 4096), block_sizes={0: 32, 1: 1})
    said = "!quant.uniform<i4:f32:{0:32, 1:1}, {128x4096 scales, 0.0042 to 0.0121}>"
    assert t.shown() == said
    assert repr(t) == f"<UniformType {said}>"
    assert t._repr_html_() == f"<code>{said.replace('<', '&lt;').replace('>', '&gt;')}</code>"
    assert repr(TensorType((4096, 4096), t)) == f"<TensorType tensor<4096x4096x{said}>>"
    few = blocks((64, 64))
    assert str(few).count(",") == 64 * 64 + 1
    assert str(few) in str(qrt.ir.parse(f"func.func private @f(tensor<2048x64x{few}>)"))


def test_sixteen_scales_are_shown_one_by_one():
    shown = UniformType("i8", "f32", [0.5] * 16, axis=0)
    short = UniformType("i8", "f32", [0.5] * 17, axis=0)
    assert shown.shown() == str(shown)
    assert shortened(f"got {shown}") == f"got {shown}"
    assert short.shown() == "!quant.uniform<i8:f32:0, {17 scales, 0.5 to 0.5}>"


@settings(max_examples=40)
@given(SCALES, st.lists(st.integers(-9, 9), min_size=40), st.sampled_from([(), (1, 1), (1,)]), st.integers(0, 2))
def test_a_type_in_a_message_is_that_which_the_type_shows(scales, zeros, ones, outer):
    shape = (*ones, len(scales))
    array, zero_array = np.array(scales).reshape(shape), np.array(zeros[: len(scales)]).reshape(shape)
    if outer:
        array, zero_array = (np.stack([a] * outer + [a[::-1]]) for a in (array, zero_array))
    sizes = dict.fromkeys(range(array.ndim), 2)
    t = UniformType("u4", "f64", array, zero_array, block_sizes=sizes, storage_min=1, storage_max=14)
    assert shortened(f"{t} and {t}") == f"{t.shown()} and {t.shown()}"


def test_quantiles_and_what_holds_a_type_are_shown_in_short():
    quantile = QuantileType("i8", "f32", np.linspace(-1, 1, 256))
    assert quantile.shown() == "!quant.quantile<i8:f32, {256 quantiles, -1 to 1}>"
    t = blocks()
    for holder in (FunctionType([t], [TensorType(None, t)]), TupleType([t, FloatType("f32")])):
        assert t.shown() in holder.shown()
        assert len(holder.shown()) < 300
    assert 2000 < len(TupleType([FloatType("f32")] * 10_000).shown()) <= 2048


@pytest.mark.parametrize("text", ["{a, b}", "{0x}", "{0x" + "1" * 40 + "}", "{{0.5}", "{}"])
def test_a_message_that_only_looks_like_a_type_is_kept(text):
    message = f"!quant.uniform<i8:f32:{{0:1}}, {text}>" + " " * 200
    assert shortened(message) == message


def test_shortening_takes_time_in_proportion():
    for text in (
        "!quant.uniform<" * 100_000,
        "!quant.uniform<i8, {" * 100_000,
        "!quant.uniform<i8:{0, " + "{" * 500_000,
    ):
        assert len(shortened(text)) <= 2048


def test_long_texts_of_types_are_not_kept():
    from qrt.types import parser

    text = str(blocks())
    with pytest.raises(QuantTypeError, match="expected a FloatType"):
        parse_type(text, kind=FloatType)
    assert (text, 22) not in parser._memo
