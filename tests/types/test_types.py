"""Types as text and as values. Spellings and verdicts are those of mlir-opt 22: tests/oracle/test_fixed.py asks again
where it is installed."""

import copy
import gc
import pickle
import weakref

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import qrt
from qrt import ir
from qrt.errors import ModelError, ParseError, QuantError, QuantTypeError, VerifyError
from qrt.ir import run_passes
from qrt.types import (
    AnyQuantizedType,
    CalibratedType,
    FloatType,
    FunctionType,
    IntegerType,
    MemRefType,
    QuantileType,
    TensorType,
    UniformType,
    VectorType,
    check_integrity,
    parse_type,
)
from tests.types.tables import ACCEPTED, ACCEPTED_24, REJECTED, REJECTED_24, SIGNED


@pytest.mark.parametrize(("text", "printed"), ACCEPTED)
def test_text_is_read_and_printed_as_upstream_does(text, printed):
    parsed = parse_type(text)
    assert str(parsed) == printed
    assert parse_type(printed) is parsed
    assert pickle.loads(pickle.dumps(parsed)) is parsed
    assert copy.deepcopy(parsed) is parsed


@pytest.mark.parametrize(("text", "message", "column"), REJECTED)
def test_bad_text_is_an_error_at_the_offending_part(text, message, column):
    with pytest.raises(ParseError) as caught:
        parse_type(text)
    assert message in caught.value.message
    assert caught.value.location.column == column


@pytest.mark.parametrize(("text", "printed"), ACCEPTED_24)
def test_text_of_version_24(text, printed):
    parsed = parse_type(text, upstream=24)
    assert str(parsed) == printed
    assert parse_type(printed, upstream=24) is parsed
    assert pickle.loads(pickle.dumps(parsed)) is parsed


@pytest.mark.parametrize(("text", "message", "column"), REJECTED_24)
def test_bad_text_of_version_24(text, message, column):
    with pytest.raises(ParseError) as caught:
        parse_type(text, upstream=24)
    assert message in caught.value.message
    assert caught.value.location.column == column


@pytest.mark.parametrize(("text", "printed"), SIGNED)
def test_signed_storage_is_another_type_which_version_22_prints_alike(text, printed):
    """The hazard: a program printed by 22 and read again is another program, so pickles keep the exact text."""
    parsed, other = parse_type(text), parse_type(printed)
    assert parsed is not other
    assert parse_type(str(parsed)) is parsed
    for upstream, expected in ((22, printed), (24, str(parsed))):
        quoted = f'{{note = "{text}"}}'
        module = ir.parse(f"func.func private @f({text}) attributes {quoted}", upstream=upstream)
        assert f"func.func private @f({expected}) attributes {quoted}" in str(module)
        again = pickle.loads(pickle.dumps(module))
        assert again == module
        assert str(again) == str(module)


def test_a_version_that_is_not_known_is_named():
    with pytest.raises(QuantTypeError, match="'upstream' must be an MLIR version, one of 22, 24, got 23"):
        parse_type("f32", upstream=23)


def test_a_type_is_of_the_class_asked_for():
    """Also one that has been read before, and is known by its text."""
    for _ in range(2):
        assert parse_type("!quant.uniform<i8:f32, 0.5:3>", kind=UniformType).zero_point == 3
        with pytest.raises(QuantTypeError, match=r"expected a UniformType, got the TensorType"):
            parse_type("tensor<2xf32>", kind=UniformType)
    with pytest.raises(QuantTypeError, match="'kind' must be a class of types, got 'UniformType'"):
        parse_type("f32", kind="UniformType")


@pytest.mark.parametrize("storage", ["f8E5M2", "f8E4M3FN", "f4E2M1FN"])
def test_storage_in_floats_does_not_run(storage):
    t = UniformType(storage, "f32", 0.5)
    with pytest.raises(
        QuantTypeError, match=f"cannot be computed: the storage type must be an integer type, got {storage}"
    ):
        qrt.quantize([1.0], t)
    text = f"func.func @f(%x: f32) -> {t} {{ %0 = quant.qcast %x : f32 to {t}  return %0 : {t} }}"
    module = ir.parse(text, upstream=24)
    module.verify()
    with pytest.raises(QuantError, match=f"the storage type must be an integer, got {storage}"):
        qrt.compile(module)(np.float32(1))
    with pytest.raises(VerifyError, match=f"the storage type must be an integer, got {storage}"):
        run_passes(module, "lower-quant-ops")


def test_nesting_without_end_is_a_diagnostic():
    for opening in ("tensor<", "tuple<", "complex<", "(", "!quant.uniform<i8:f32:{0:1}, " + "{" * 100):
        with pytest.raises(ParseError):
            parse_type(opening * 10_000)


# -- values ------------------------------------------------------------------------------------------------------------


def test_a_per_layer_type_says_its_parts():
    t = UniformType("u4", "bf16", 0.25, 3, storage_min=1, storage_max=14)
    assert (t.storage_width, t.is_signed, t.storage_min, t.storage_max) == (4, False, 1, 14)
    assert (t.scale, t.zero_point, t.scales, t.zero_points, t.scales_shape) == (0.25, 3, (0.25,), (3,), ())
    assert t.storage_type is IntegerType(4)
    assert t.expressed_type is FloatType("bf16")
    assert t.is_per_layer


def test_a_sub_channel_type_keeps_scales_rounded_to_the_expressed_type():
    t = UniformType("i8", "f32", [[0.1, 0.2], [0.3, 0.4]], block_sizes={0: 2, 1: 3})
    assert t.scales == tuple(float(np.float32(x)) for x in (0.1, 0.2, 0.3, 0.4))
    assert (t.scales_shape, t.block_sizes) == ((2, 2), ((0, 2), (1, 3)))
    assert UniformType("i8", "f32", [0.1, 0.2], axis=0).scales == (0.1, 0.2)


def test_arrays_are_scales_too():
    made = UniformType("i8", "f32", np.array([0.5, 1.0]), np.array([1, 2], np.int8), axis=np.int64(1))
    assert made is UniformType("i8", "f32", [0.5, 1.0], [1, 2], axis=1)


def test_types_are_immutable_and_interned():
    t = UniformType("i8", "f32", 0.5)
    assert UniformType(IntegerType(8), FloatType("f32"), 0.5, 0) is t
    assert len({t, parse_type("!quant.uniform<i8<-128:127>:f32, 0.5>")}) == 1
    with pytest.raises(AttributeError, match="immutable"):
        t.scales = (1.0,)
    with pytest.raises(AttributeError, match="immutable"):
        del t.scales


@pytest.mark.parametrize("zero_points", [None, [0, 0], [0, 3]])
def test_parameters_of_a_type_cannot_be_written(zero_points):
    t = UniformType("i8", "f32", [0.5, 1.0], zero_points, axis=0)
    for array in (t.scale_array, t.zero_point_array):
        assert not array.flags.writeable
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    assert t.zero_point_bounds == (0, max(zero_points or [0]))
    assert UniformType("i8", "f32", [0.5, 1.0], zero_points, axis=0).zero_point_array is t.zero_point_array


def test_interning_does_not_keep_types_alive():
    alive = weakref.ref(UniformType("i7", "f32", 0.012345))
    gc.collect()
    assert alive() is None


def test_with_changes_one_part():
    t = UniformType("i8", "f32", [0.5, 1.0], [3, 4], axis=1, storage_min=-127)
    assert t.with_(axis=0) is UniformType("i8", "f32", [0.5, 1.0], [3, 4], axis=0, storage_min=-127)
    assert t.with_(storage="u8") is UniformType("u8", "f32", [0.5, 1.0], [3, 4], axis=1)
    assert t.with_() is t
    with pytest.raises(QuantTypeError, match="colour"):
        t.with_(colour=1)


CONSTRUCTOR_ERRORS = [
    ({"storage": "i33"}, "storage type size"),
    ({"storage": "i0"}, "storage type size"),
    ({"storage": "f32"}, "storage type"),
    ({"storage": "i"}, "storage type"),
    ({"storage": "i٣"}, "storage type"),
    ({"expressed": "i8"}, "expressed type"),
    ({"scales": 0.0}, "scale 0.000000e"),
    ({"scales": -1.0}, "scale -1.0"),
    ({"scales": float("nan")}, "scale nan"),
    ({"scales": float("inf")}, "scale inf"),
    ({"scales": "x"}, "scale"),
    ({"scales": 1e39}, "out of expressed type range"),
    ({"scales": 1e-46}, "out of expressed type range"),
    ({"expressed": "f16", "scales": 65505.0}, "out of expressed type range"),
    ({"expressed": "f80", "scales": 0.0}, "scale"),
    ({"scales": [0.5, 1.0]}, "axis or block sizes"),
    ({"scales": [], "axis": 0}, "at least one scale"),
    ({"scales": [[0.5]], "axis": 0}, "scales of a per-axis type must be one flat sequence, got shape"),
    ({"axis": 0}, "scales of a per-axis type must be one flat sequence, got shape"),
    ({"scales": [0.5], "axis": -1}, "quantized dimension: -1"),
    ({"scales": [0.5], "axis": 1 << 31}, "quantized dimension"),
    ({"scales": [0.5], "axis": 0, "block_sizes": {0: 1}}, "got both"),
    ({"scales": [[0.5]], "block_sizes": {0: 0}}, "block size: 0"),
    ({"scales": [[0.5]], "block_sizes": {-1: 1}}, "quantized dimension: -1"),
    (
        {"scales": [[0.5], [1.0, 2.0]], "block_sizes": {0: 1}},
        "scales must have rows of the same length on each level, got rows of different lengths",
    ),
    (
        {"scales": [[0.5], 1.0], "block_sizes": {0: 1}},
        "scales must have rows of the same length on each level, got rows beside numbers",
    ),
    ({"scales": 0.5, "block_sizes": {0: 1}}, "nested sequences"),
    (
        {"scales": [0.5, [1.0]], "block_sizes": {0: 1}},
        "scales must have rows of the same length on each level, got rows beside numbers",
    ),
    ({"scales": [0.5, 0.0], "axis": 0}, "scale 0.000000e"),
    ({"scales": [[0.5, -1.0]], "block_sizes": {0: 1}}, "scale -1.0"),
    ({"zero_points": 0.5}, "zero point"),
    ({"zero_points": 1 << 63}, "64 bits"),
    ({"zero_points": [0]}, "zero points must have the shape of the scales"),
    ({"storage_min": -129}, "minimum: -129"),
    ({"storage_max": 128}, "maximum: 128"),
    ({"storage_min": 5, "storage_max": 5}, "min and storage max: (5:5)"),
]


@pytest.mark.parametrize(("changes", "message"), CONSTRUCTOR_ERRORS)
def test_constructor_errors_name_the_part(changes, message):
    with pytest.raises(QuantTypeError) as caught:
        UniformType(**({"storage": "i8", "expressed": "f32", "scales": 0.5} | changes))
    assert message in str(caught.value)


def test_other_constructors_check_too():
    for make in (
        lambda: IntegerType(-1),
        lambda: IntegerType(1 << 24),
        lambda: IntegerType(8, "odd"),
        lambda: FloatType("f33"),
        lambda: TensorType((-1,), FloatType("f32")),
        lambda: TensorType((1 << 63,), FloatType("f32")),
        lambda: TensorType((1.5,), FloatType("f32")),
        lambda: TensorType((2,), TensorType((2,), FloatType("f32"))),
        lambda: VectorType((0,), FloatType("f32")),
        lambda: MemRefType((2,), UniformType("i8", "f32", 0.5)),
        lambda: VectorType((2,), UniformType("i8", "f32", 0.5)),
        lambda: CalibratedType("f32", 1.0, 1.0),
        lambda: CalibratedType("f32", float("nan"), 1.0),
        lambda: AnyQuantizedType("i64"),
    ):
        with pytest.raises(QuantTypeError):
            make()


def test_only_per_layer_types_have_one_scale():
    t = UniformType("i8", "f32", [0.5], axis=0)
    with pytest.raises(QuantTypeError, match="only a per-layer type has a single scale, got"):
        _ = t.scale
    with pytest.raises(QuantTypeError, match="only a per-layer type has a single zero point, got"):
        _ = t.zero_point


# -- integrity ---------------------------------------------------------------------------------------------------------

PER_AXIS = UniformType("i8", "f32", [0.5, 1.0], axis=1)


def blocks(scales, sizes):
    return UniformType("i8", "f32", scales, block_sizes=sizes)


FITS = [
    (UniformType("i8", "f32", 0.5), None),
    (UniformType("i8", "f32", 0.5), ()),
    (PER_AXIS, (3, 2)),
    (PER_AXIS, (3, None)),
    (PER_AXIS, None),
    (blocks([[1.0], [2.0]], {0: 2}), (4, 4)),
    (blocks([[1.0], [2.0]], {0: 2}), (None, 4)),
    (blocks([[1.0]], {}), (4, None)),
    (blocks([[1.0], [2.0]], {0: 2, 1: 4}), (4, 4)),
]
FITS_NOT = [
    (PER_AXIS, (2,), "less than tensor rank"),
    (PER_AXIS, (), "less than tensor rank"),
    (PER_AXIS, (3, 3), "number of scales"),
    (PER_AXIS, (3, 0), "number of scales"),
    (blocks([[1.0]], {0: 2}), None, "must be ranked"),
    (blocks([1.0], {0: 2}), (2, 2), "rank of scales 1"),
    (blocks([[1.0]], {2: 2}), (2, 2), "dimension 2 must be less than tensor rank 2"),
    (blocks([[1.0]], {0: 3}), (4, 4), "divisible by the corresponding block size 3"),
    (blocks([[1.0, 1.0]], {0: 4}), (4, 4), "dimension size 2 of scales tensor at axis 1"),
    (blocks([[1.0, 1.0]], {0: 4}), (4, None), "dimension size 2 of scales tensor at axis 1"),
    (blocks([[1.0]], {0: 2}), (0, 4), "size of zero"),
]


@pytest.mark.parametrize(("element", "shape"), FITS)
def test_parameters_that_fit(element, shape):
    check_integrity(element, shape)


@pytest.mark.parametrize(("element", "shape", "message"), FITS_NOT)
def test_parameters_that_do_not_fit(element, shape, message):
    with pytest.raises(QuantTypeError, match=message):
        check_integrity(element, shape)


# -- round trips -------------------------------------------------------------------------------------------------------


@st.composite
def uniform_types(draw):
    width, signed = draw(st.integers(1, 32)), draw(st.booleans())
    least, greatest = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    low = draw(st.integers(least, greatest - 1))
    bounds = draw(st.sampled_from([{}, {"storage_min": low, "storage_max": draw(st.integers(low + 1, greatest))}]))
    name = draw(st.sampled_from(["f16", "bf16", "f32", "f64", "tf32", "f8E4M3FN", "f8E5M2", "f80", "f128"]))
    kind = FloatType(name)
    least_scale = max(kind.smallest, 5e-324)
    scale = st.floats(least_scale, min(kind.largest, 1.7e308), allow_nan=False)
    zero = st.integers(-(1 << 63), (1 << 63) - 1)
    form = draw(st.sampled_from(["layer", "axis", "blocks"]))
    storage = f"{'i' if signed else 'u'}{width}"
    if form == "layer":
        return UniformType(storage, name, draw(scale), draw(zero), **bounds)
    if form == "axis":
        size = draw(st.integers(1, 5))
        scales, zeros = (draw(st.lists(s, min_size=size, max_size=size)) for s in (scale, zero))
        return UniformType(storage, name, scales, zeros, axis=draw(st.integers(0, 9)), **bounds)
    shape = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    scales = np.array([draw(scale) for _ in range(int(np.prod(shape)))]).reshape(shape)
    zeros = np.array([draw(zero) for _ in range(int(np.prod(shape)))]).reshape(shape)
    sizes = draw(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 1 << 40)), max_size=3))
    return UniformType(storage, name, scales, zeros, block_sizes=sizes, **bounds)


shapes = st.one_of(st.none(), st.lists(st.one_of(st.none(), st.integers(0, 1 << 62)), max_size=4))
types = st.recursive(
    st.one_of(
        uniform_types(),
        st.builds(IntegerType, st.integers(0, 200), st.sampled_from(["signless", "signed", "unsigned"])),
        st.sampled_from([FloatType("f32"), FloatType("f4E2M1FN"), parse_type("index"), parse_type("none")]),
        st.builds(CalibratedType, st.just("f32"), st.floats(-1e9, -1e-9), st.floats(0.0, 1e9)),
        st.builds(TensorType, shapes, uniform_types()),
        st.builds(TensorType, shapes, st.sampled_from([FloatType("bf16"), IntegerType(4)])),
    ),
    lambda inner: st.builds(FunctionType, st.lists(inner, max_size=3), st.lists(inner, max_size=3)),
    max_leaves=6,
)


@given(types)
@example(UniformType("u1", "f16", [FloatType("f16").smallest], block_sizes={}))  # in six digits less than itself
def test_every_type_reads_back_from_its_text(t):
    assert parse_type(str(t)) is t
    assert pickle.loads(pickle.dumps(t)) is t


# -- tables as storage -------------------------------------------------------------------------------------------------


def test_a_quantile_with_the_bounds_of_its_storage_is_another_type_than_without():
    entries = [-1.0, -0.5, 0.0, 1.0]
    plain, bounded = QuantileType("ui2", "f16", entries), QuantileType("ui2", "f16", entries, 0, 3)
    assert plain is not bounded
    assert plain.bounds == bounded.bounds == (0, 3)
    assert UniformType(plain, "f32", 0.5) is not UniformType(bounded, "f32", 0.5)


@pytest.mark.parametrize(
    ("storage", "bounds", "is_signed"),
    [("i2", (0, 3), False), ("ui2", (0, 3), False), ("si2", (-2, 1), True), ("f4E2M1FN", (-6, 6), True)],
)
def test_storage_by_a_table_has_the_bounds_of_the_table(storage, bounds, is_signed):
    count = 16 if storage.startswith("f") else 4
    table = QuantileType(storage, "f16", [float(i) for i in range(count)])
    for t in (UniformType(table, "f32", 0.5, 1), AnyQuantizedType(table)):
        assert ((t.storage_min, t.storage_max), t.is_signed, t.has_default_bounds) == (bounds, is_signed, True)
        assert t.storage == str(table)
        assert t.storage_type is table
        assert t.storage_width == (4 if count == 16 else 2)
        assert not t.is_storage_castable
        assert pickle.loads(pickle.dumps(t)) is t
        assert parse_type(str(t), upstream=24) is t
        assert copy.copy(t) is t
    assert UniformType(table, "f32", 0.5, 1).with_(scales=0.25).storage_type is table


def test_a_type_of_a_long_table_is_shown_in_short():
    table = QuantileType("i8", "f32", np.linspace(-1, 1, 256))
    t = UniformType(table, "f32", 0.5)
    assert t.shown() == "!quant.uniform<!quant.quantile<i8:f32, {256 quantiles, -1 to 1}>:f32, 5.000000e-01>"
    channels = UniformType(table, "f32", np.linspace(0.5, 1, 32), axis=0)
    assert len(channels.shown()) < 200


@pytest.mark.parametrize("bounds", [(0, None), (None, 3)])
def test_one_bound_of_a_quantile_is_refused(bounds):
    with pytest.raises(
        QuantTypeError,
        match="a quantile type must have both bounds or none, got one bound: give storage_min and storage_max",
    ):
        QuantileType("ui2", "f16", [0.0] * 4, *bounds)


TABLE = "!quant.quantile<ui2:f16, {-1.000000e+00,-5.000000e-01,0.000000e+00,1.000000e+00}>"


@pytest.mark.parametrize(
    "element", [TABLE, f"!quant.uniform<{TABLE}:f32, 0.5>", f"!quant.uniform<{TABLE}:f32:0, {{0.5}}>"]
)
def test_storage_by_a_table_reads_back_and_does_not_run(element):
    """The compiler names the type, before any value is there, even if the shape is open."""
    module = ir.parse(f"func.func @f(%x: tensor<?x{element}>) {{ return }}", upstream=24)
    module.verify()
    assert ir.parse(str(module), upstream=24) == module
    with pytest.raises(
        ModelError,
        match=r"has a value of type .* which cannot run: the storage type must be an integer, got",
    ):
        qrt.compile(module)


@pytest.mark.parametrize(
    "body",
    [
        "%0 = quant.scast %s : tensor<2xi2> to tensor<2x!q>",
        "%0 = quant.scast %q : tensor<2x!q> to tensor<2xi2>",
        "%0 = quant.qcast %q : tensor<2x!q> to tensor<2x!q>",
        f"%0 = quant.dcast %t : tensor<2x{TABLE}> to tensor<2xf16>",
    ],
)
def test_casts_that_do_not_take_tables(body):
    head = f"!q = !quant.uniform<{TABLE}:f32, 0.5>"
    arguments = f"%s: tensor<2xi2>, %q: tensor<2x!q>, %t: tensor<2x{TABLE}>"
    with pytest.raises(QuantError):
        ir.parse(f"{head}\nfunc.func @f({arguments}) {{ {body}\n return }}", upstream=24).verify()


def test_casts_of_storage_by_a_table_are_verified_and_passes_keep_the_table():
    blocks = f"!quant.uniform<{TABLE}<1:2>:f32:{{0:1, 1:4}}, {{{{0.5}}, {{0.25:1}}}}>"
    module = ir.parse(
        f"func.func @f(%x: tensor<2x4xf32>) {{ %0 = quant.qcast %x : tensor<2x4xf32> to tensor<2x4x{blocks}>\n"
        f"%1 = quant.dcast %0 : tensor<2x4x{blocks}> to tensor<2x4xf32>\n return }}",
        upstream=24,
    )
    module.verify(strict=True)
    assert f"!quant.uniform<{TABLE}<1:2>:f32:0, {{5.0" in str(run_passes(module, "normalize-quant-types"))
    with pytest.raises(VerifyError, match="the storage type must be an integer, got"):
        run_passes(module, "lower-quant-ops")
