"""Calls kept: a function called again finds its bound call, and only where the long way would bind the same one."""

import copy
import gc
import inspect
import itertools
import math
import pickle
import pydoc
import re
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType, kernels
from qrt.errors import QuantTypeError
from qrt.tensor.calls import Function, call_cache
from tests.ops.strategies import storage_of

I8 = UniformType("i8", "f32", 0.5, 3)
U8 = UniformType("u8", "f32", 0.25, 7)
I16 = UniformType("i16", "f32", 0.5, 3)
W = UniformType("i8", "f32", 0.125)
U4 = UniformType("u4", "f32", 0.5, 8)
OUT = UniformType("i8", "f32", 2.0, -1)
I32 = UniformType("i32", "f32", 0.0625)
CHANNELS = UniformType("i8", "f32", [0.5, 1.0, 2.0, 4.0], axis=1)


def filled(shape: tuple[int, ...], t: UniformType = I8, seed: int = 0) -> QuantTensor:
    return QuantTensor(storage_of(t, shape, np.random.default_rng(seed)), t)


def long_way(function: Any, *args: Any, **kwargs: Any) -> Any:
    """The function without the cache."""
    return function.__wrapped__(*args, **kwargs).run()


@contextmanager
def hits(expected: int) -> Iterator[None]:
    before = call_cache.hits
    yield
    assert call_cache.hits - before == expected


def same(a: Any, b: Any) -> bool:
    return type(a) is type(b) and (
        a.equals(b) if isinstance(a, QuantTensor) else np.array_equal(a, b) and a.dtype == b.dtype
    )


X, Y = filled((4, 4)), filled((4, 4), W, 1)
IMAGE, FILTER, DEPTHWISE = filled((1, 5, 5, 4)), filled((4, 3, 3, 4), W, 2), filled((3, 3, 4), W, 3)
FLOATS = np.linspace(-60, 60, 16, dtype=np.float32)
BIAS = filled((4,), I32, 4)
TABLE = filled((256,), OUT, 5)

Call = tuple[Any, tuple[Any, ...], dict[str, Any]]
CALLS: dict[str, Call] = {
    "qcast": (qrt.qcast, (FLOATS, OUT), {}),
    "quantize": (qrt.quantize, (FLOATS, OUT), {}),
    "dcast": (qrt.dcast, (X,), {}),
    "matmul": (qrt.matmul, (X, Y), {"out_type": OUT}),
    "matmul bias": (qrt.matmul, (X, Y), {"bias": BIAS, "out_type": OUT}),
    "conv2d": (qrt.conv2d, (IMAGE, FILTER), {"padding": "SAME", "out_type": OUT}),
    "conv2d strides": (qrt.conv2d, (IMAGE, FILTER), {"strides": (2, 1), "padding": ((0, 1), (1, 0)), "out_type": OUT}),
    "depthwise_conv2d": (qrt.depthwise_conv2d, (IMAGE, DEPTHWISE), {"out_type": OUT}),
    "add": (qrt.add, (X, Y), {"out_type": OUT}),
    "sub": (qrt.sub, (X, Y), {"out_type": OUT}),
    "mul": (qrt.mul, (X, Y), {"out_type": OUT}),
    "requantize": (qrt.requantize, (X, OUT), {}),
    "clamp": (qrt.clamp, (X, -1, 6.0), {}),
    "relu": (qrt.relu, (X,), {}),
    "lookup": (qrt.lookup, (X, TABLE), {}),
    "avg_pool2d": (qrt.avg_pool2d, (IMAGE, 2), {}),
    "max_pool2d": (qrt.max_pool2d, (IMAGE, (2, 3)), {"strides": 1}),
    "mean": (qrt.mean, (IMAGE, (1, 2)), {"keepdims": True}),
    "clamp, NumPy's number": (qrt.clamp, (X, np.float32(0.5)), {}),
    "softmax": (qrt.softmax, (X, UniformType("u8", "f32", 1 / 256)), {"axis": 0}),
    "pad": (qrt.pad, (X, ((1, 0), (0, 1))), {}),
    "concat": (qrt.concat, ((X, X),), {}),
}


# ----------------------------------------------------------------------------------------------------------- what hits


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("given_out", [False, True])
def test_the_second_call_is_kept(name: str, given_out: bool) -> None:
    function, args, kwargs = CALLS[name]
    expected = function(*args, **kwargs)
    out = expected.copy()
    if given_out:
        kwargs = kwargs | {"out": out}
        function(*args, **kwargs)
        if isinstance(out, QuantTensor):
            out._data[...] = 0
        else:
            out[...] = 0
    with hits(1):
        result = function(*args, **kwargs)
    assert same(result, expected)
    assert (result is out) == given_out


def test_operators_are_kept() -> None:
    for operate in (lambda: X @ Y, lambda: X + X, lambda: X - X, lambda: X * Y, lambda: np.add(X, X), X.dequantize):
        expected = operate()
        with hits(1):
            assert same(operate(), expected)


def test_how_arguments_are_given_does_not_matter() -> None:
    expected = qrt.clamp(X, -1, 6)
    with hits(3):
        assert qrt.clamp(X, max=6, min=-1).equals(expected)
        assert qrt.clamp(q=X, min=-1, max=6).equals(expected)
        assert qrt.clamp(X, -1, 6, out=None).equals(expected)


def test_the_method_of_a_call_is_the_call() -> None:
    expected = qrt.clamp(X, -1, max=6)
    with hits(1):
        assert qrt.clamp.__call__(X, -1, max=6).equals(expected)
    with pytest.raises(QuantTypeError, match="clamp: an argument is missing: 'q'"):
        qrt.clamp.__call__()


@pytest.mark.parametrize("shape", [(), (0, 3), (1, 1, 1, 1, 1, 1, 1), (1,) * 30])
def test_shapes_of_any_rank(shape: tuple[int, ...]) -> None:
    q = filled(shape)
    assert qrt.relu(q).equals(long_way(qrt.relu, q))
    with hits(1):
        assert qrt.relu(q).equals(long_way(qrt.relu, q))


# ------------------------------------------------------------------------------------------------------- what does not

SWAPPED = FLOATS.astype(FLOATS.dtype.newbyteorder())
UNALIGNED = np.frombuffer(b"x" + FLOATS.tobytes(), np.float32, offset=1)

MISSES: list[tuple[str, Call, Call]] = [
    ("another shape", (qrt.relu, (filled((2, 6)),), {}), (qrt.relu, (filled((3, 4)),), {})),
    ("another rank", (qrt.relu, (filled((2, 6)),), {}), (qrt.relu, (filled((2, 6, 1)),), {})),
    ("another type", (qrt.relu, (filled((6, 2)),), {}), (qrt.relu, (filled((6, 2), W),), {})),
    ("another width", (qrt.relu, (filled((6, 2)),), {}), (qrt.relu, (filled((6, 2), I16),), {})),
    ("a strided view", (qrt.relu, (filled((4, 3)),), {}), (qrt.relu, (filled((4, 6))[:, ::2],), {})),
    ("a transposed view", (qrt.relu, (filled((7, 7)),), {}), (qrt.relu, (filled((7, 7)).T,), {})),
    ("packed bits", (qrt.relu, (filled((3, 1), U4),), {}), (qrt.relu, (filled((3, 2), U4),), {})),
    ("byte order", (qrt.quantize, (FLOATS, U8), {}), (qrt.quantize, (SWAPPED, U8), {})),
    ("alignment", (qrt.qcast, (FLOATS, U8), {}), (qrt.qcast, (UNALIGNED, U8), {})),
    ("a list", (qrt.qcast, (FLOATS, U8), {}), (qrt.qcast, (FLOATS.tolist(), U8), {})),
    ("doubles", (qrt.quantize, (FLOATS, U8), {}), (qrt.quantize, (FLOATS.astype(float), U8), {})),
    ("a number", (qrt.quantize, (1.0, U8), {}), (qrt.quantize, (2.0, U8), {})),
    ("a NumPy bound", (qrt.clamp, (X, np.float32(1)), {}), (qrt.clamp, (X, np.float32(2)), {})),
    ("its width", (qrt.clamp, (X, np.float32(0.1)), {}), (qrt.clamp, (X, np.float64(0.1)), {})),
    ("a NumPy number", (qrt.quantize, (np.float32(1), U8), {}), (qrt.quantize, (np.float32(2), U8), {})),
    ("a result type", (qrt.add, (X, X), {"out_type": U8}), (qrt.add, (X, X), {"out_type": I8})),
    ("no result type", (qrt.add, (X, X), {"out_type": U8}), (qrt.add, (X, X), {})),
    ("a rule", (qrt.mul, (X, Y), {"out_type": U8}), (qrt.mul, (X, Y), {"out_type": U8, "requant": "float32"})),
    ("a rounding", (qrt.qcast, (FLOATS, U8), {}), (qrt.qcast, (FLOATS, U8), {"rounding": "toward_zero"})),
    ("a bias", (qrt.matmul, (X, Y), {"out_type": U8}), (qrt.matmul, (X, Y), {"out_type": U8, "bias": BIAS})),
    ("order", (qrt.sub, (X, Y), {"out_type": U8}), (qrt.sub, (Y, X), {"out_type": U8})),
    ("an axis", (qrt.softmax, (X, U8), {"axis": 1}), (qrt.softmax, (X, U8), {"axis": 0})),
    ("a flag", (qrt.mean, (X, 0), {}), (qrt.mean, (X, 0), {"keepdims": True})),
    ("a nested number", (qrt.pad, (X, ((0, 1), (0, 0))), {}), (qrt.pad, (X, ((0, 0), (0, 1))), {})),
    ("one tensor more", (qrt.concat, ((X, X),), {}), (qrt.concat, ((X, X, X),), {})),
    ("an array's subclass", (qrt.qcast, (FLOATS, U8), {}), (qrt.qcast, (FLOATS.view(np.recarray), U8), {})),
]


@pytest.mark.parametrize(("first", "second"), [case[1:] for case in MISSES], ids=[case[0] for case in MISSES])
def test_what_differs_is_bound_anew(first: Call, second: Call) -> None:
    for function, args, kwargs in (first, second, first, second):
        assert same(function(*args, **kwargs), long_way(function, *args, **kwargs))


def test_equal_numbers_of_other_kinds_are_told_apart() -> None:
    """`True == 1 == 1.0`, and what one of them may mean another may not."""
    assert qrt.mean(X, 0, keepdims=True).shape == (1, 4)
    with pytest.raises(QuantTypeError, match="'keepdims' must be true or false, got 1"):
        qrt.mean(X, 0, keepdims=1)  # type: ignore[arg-type]
    assert qrt.softmax(X, U8, axis=1).shape == (4, 4)
    with pytest.raises(QuantTypeError, match=r"'axis' must be an integer, got 1\.0"):
        qrt.softmax(X, U8, axis=1.0)  # type: ignore[arg-type]
    assert qrt.softmax(X, U8, axis=np.int64(1)).equals(qrt.softmax(X, U8, axis=1))
    with pytest.raises(QuantTypeError, match=r"'axis' must be an integer, got np\.float64\(1\.0\)"):
        qrt.softmax(X, U8, axis=np.float64(1.0))  # type: ignore[arg-type]
    assert qrt.pad(X, ((1, 0), (0, 0))).shape == (5, 4)
    with pytest.raises(QuantTypeError, match="of non-negative integers"):
        qrt.pad(X, ((1.0, 0), (0, 0)))  # type: ignore[arg-type]
    for zero in (0, 0.0, -0.0, False):
        assert qrt.clamp(X, zero).equals(long_way(qrt.clamp, X, zero))
    for _ in range(2):
        with pytest.raises(QuantTypeError):
            qrt.clamp(X, math.nan)


def test_a_list_that_changes() -> None:
    padding = [[0, 1], [0, 0]]
    for _ in range(3):
        padding[0][1] += 1
        assert qrt.conv2d(IMAGE, FILTER, padding=padding, out_type=OUT).equals(
            qrt.conv2d(IMAGE, FILTER, padding=((0, padding[0][1]), (0, 0)), out_type=OUT)
        )
        assert qrt.pad(X, padding).shape == (4 + padding[0][1], 4)
    tensors = [X, X]
    assert qrt.concat(tensors).shape == (8, 4)
    tensors.append(X)
    assert qrt.concat(tensors).shape == (12, 4)


def test_a_type_that_is_gone_and_one_in_its_place() -> None:
    """Types are told apart by identity: a kept call must keep its own alive."""
    for i in range(300):
        t = UniformType("i8", "f32", 0.5 + i)
        q = QuantTensor(np.int8([[1, -3]]), t)
        assert qrt.dcast(q).tolist() == [[t.scale, -3 * t.scale]]
        del t, q
        gc.collect(0)


def test_values_are_read_each_time() -> None:
    w = filled((4, 4), W)
    qrt.matmul(X, w, out_type=OUT)
    qrt.clamp(w, 0.0, 0.0, out=w)
    with hits(1):
        assert qrt.matmul(X, w, out_type=OUT).storage.tolist() == [[-1] * 4] * 4


def test_an_isa_forced_is_the_one_that_runs() -> None:
    qrt.relu(filled((5, 9)))
    for isa in kernels.available():
        if isa == kernels.active():
            continue
        with kernels.use(isa):
            with hits(0):
                qrt.relu(filled((5, 9)))
            with hits(1):
                qrt.relu(filled((5, 9)))
    with hits(1):
        qrt.relu(filled((5, 9)))


def test_an_isa_is_forced_for_one_thread_alone() -> None:
    with kernels.use("ref"), ThreadPoolExecutor(1) as pool:
        qrt.relu(filled((5, 10)))
        with hits(0):
            pool.submit(qrt.relu, filled((5, 10))).result()


def test_the_number_of_threads_is_read_each_time() -> None:
    a, w = filled((256, 256)), filled((256, 256), W)
    expected, before = qrt.matmul(a, w, out_type=OUT), kernels.get_num_threads()
    try:
        for threads in (1, 2, 3):
            kernels.set_num_threads(threads)
            with hits(1):
                assert qrt.matmul(a, w, out_type=OUT).equals(expected)
    finally:
        kernels.set_num_threads(before)


# ----------------------------------------------------------------------------------------------------------------- out


def test_an_out_that_overlaps_is_copied_to() -> None:
    base = filled((9, 4))
    source, out, apart = base[1:], base[:-1], filled((8, 4))
    for _ in range(2):
        qrt.clamp(source, -2, 20, out=apart)  # kept
    expected = qrt.clamp(source, -2, 20)
    assert qrt.clamp(source, -2, 20, out=out) is out
    assert out.equals(expected)
    qrt.clamp(out, 0, 5, out=out)
    assert out.equals(qrt.clamp(expected, 0, 5))


def test_an_operand_as_out_is_kept_too() -> None:
    for t in (I8, U8, U4):
        for shape in ((3, 4), (3, 1)):
            q = filled(shape, t)
            for least in (0.25, 0.5, 1.0):
                expected = np.maximum(np.asarray(q), least)
                qrt.clamp(q.copy(), least, out=q.copy())
                assert qrt.clamp(q, least, out=q) is q
                np.testing.assert_allclose(np.asarray(q), expected, atol=t.scale / 2)
    q = filled((4, 5))
    qrt.relu(q, out=q)
    with hits(1):
        qrt.relu(q, out=q)
    a = filled((4, 4))
    for _ in range(3):
        expected = long_way(qrt.matmul, a, a, out_type=a.type)
        assert qrt.matmul(a, a, out=a) is a
        assert a.equals(expected)


def test_an_out_that_became_read_only() -> None:
    out, values = filled((4, 4)), np.empty((4, 4), np.float32)
    for _ in range(2):
        qrt.relu(X, out=out)
        qrt.dcast(X, out=values)
    out._data.flags.writeable = values.flags.writeable = False
    with pytest.raises(QuantTypeError, match="clamp: 'out' must be writable, got a read-only tensor"):
        qrt.relu(X, out=out)
    with pytest.raises(QuantTypeError, match="dcast: 'out' must be a writable array"):
        qrt.dcast(X, out=values)


def test_an_out_of_another_layout() -> None:
    for out in (filled((4, 4)), filled((4, 8))[:, ::2], filled((4, 4)).T, filled((5, 4))[1:]):
        for _ in range(2):
            assert qrt.relu(X, out=out) is out
            assert out.equals(long_way(qrt.relu, X))
            qrt.clamp(out, 1.0, 1.0, out=out)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: qrt.relu(), QuantTypeError, "relu: an argument is missing: 'q'"),
        (lambda: qrt.relu(X, X), QuantTypeError, "relu: expected at most 1 argument by position, got 2"),
        (lambda: qrt.relu(X, q=X), QuantTypeError, "relu: the argument 'q' is given twice"),
        (lambda: qrt.relu(X, oot=X), QuantTypeError, "relu: no argument is named 'oot': did you mean 'out'?"),
        (lambda: qrt.relu(None), QuantTypeError, "relu: 'q' must be a QuantTensor, got None"),
        (
            lambda: qrt.relu(X._data),
            QuantTypeError,
            "relu: 'q' must be a QuantTensor, got an ndarray of shape (4, 4): qrt.quantize(q, bits=8) makes one",
        ),
        (
            lambda: qrt.relu(X, out=X._data),
            QuantTypeError,
            "clamp: 'out' must be a QuantTensor, got an ndarray of shape (4, 4): give a tensor of the result's type "
            "and shape, or omit out=...",
        ),
        (lambda: qrt.relu(QuantTensor.__new__(QuantTensor)), TypeError, "None"),
        (lambda: qrt.relu(X, out=filled((4, 5))), QuantTypeError, "clamp: 'out' must have the result's type"),
        (
            lambda: qrt.relu(X, out=filled((4, 4), W)),
            QuantTypeError,
            "clamp: the result must have the type of the operand",
        ),
        (
            lambda: qrt.dcast(X, out=np.zeros((4, 4))),
            QuantTypeError,
            "dcast: 'out' must have shape (4, 4) and dtype float32, got shape (4, 4) and dtype float64",
        ),
        (lambda: qrt.matmul(X, Y, out_type=OUT, requant="fixd"), QuantTypeError, "matmul: 'requant' must be one of"),
        (
            lambda: qrt.matmul(X, Y, out_type="i8"),
            QuantTypeError,
            "matmul: 'out_type' must be a !quant.uniform "
            'type, got \'i8\': give one such as qrt.UniformType("i8", "f32", 0.5), or the type that '
            "qrt.quantize(x, bits=8) chooses",
        ),
    ],
)
def test_errors_are_those_of_the_long_way(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    qrt.relu(X), qrt.relu(X, out=filled((4, 4))), qrt.dcast(X, out=np.zeros((4, 4), np.float32))
    for _ in range(2):
        with pytest.raises(error, match=re.escape(message)):
            call()


# ------------------------------------------------------------------------------------------------------------ at random

SHAPES = st.sampled_from([(4, 4), (2, 4), (4,), (1, 4), (3, 4), (0, 4)])
TYPES = st.sampled_from([I8, U8, I16, W, U4, CHANNELS])


@given(st.data())
def test_a_sequence_of_calls_gives_what_each_gives_alone(data: st.DataObject) -> None:
    """All examples share one cache: whatever was kept before must not show."""
    shape, t = data.draw(SHAPES), data.draw(TYPES)
    if t is CHANNELS and len(shape) < 2:
        t = I8
    q = filled(shape, t, data.draw(st.integers(0, 3)))
    name = data.draw(st.sampled_from(["requantize", "clamp", "dcast", "mul", "matmul", "mean"]))
    kwargs: dict[str, Any] = {}
    if name in ("requantize", "mul", "matmul"):
        kwargs["requant"] = data.draw(st.sampled_from(["fixed", "float32", "float64_away"]))
    args: tuple[Any, ...] = (q,)
    if name == "requantize":
        args = (q, data.draw(st.sampled_from([I8, OUT, U4])))
    elif name == "clamp":
        args = (q, data.draw(st.sampled_from([0, 0.0, False, None, 1])))
    elif name == "mul":
        args, kwargs["out_type"] = (q, filled(shape, W)), OUT
    elif name == "matmul":
        args, kwargs["out_type"] = (q, filled((4, data.draw(st.integers(1, 3))), W)), OUT
    elif name == "mean":
        kwargs["keepdims"] = data.draw(st.booleans())
    function = getattr(qrt, name)

    def outcome(call: Callable[..., Any]) -> Any:
        try:
            return call(*args, **kwargs)
        except QuantTypeError as error:
            return str(error)

    expected = outcome(lambda *a, **k: long_way(function, *a, **k))
    isa = data.draw(st.sampled_from([kernels.active(), "ref"]))
    for _ in range(2):
        with kernels.use(isa):
            found = outcome(function)
        assert found == expected if isinstance(expected, str) else same(found, expected)


# --------------------------------------------------------------------------------------------------- bounds and threads


def test_the_cache_is_bounded() -> None:
    for n in range(1, 1200):
        q = filled((n,))
        assert qrt.relu(q).shape == (n,)
    assert 100 < len(call_cache) <= 512


def test_calls_leave_nothing_behind() -> None:
    """10^5 calls: no memory, no reference more than before."""
    out, values = filled((4, 4), OUT), np.empty((4, 4), np.float32)
    objects = [X, Y, out, values, X.type, OUT, X._data, out._data, X.shape, kernels.active(), None, "fixed", qrt.matmul]

    def run(times: int) -> None:
        for _ in range(times):
            qrt.matmul(X, Y, out_type=OUT, out=out)
            qrt.matmul(X, Y, out_type=OUT, requant="fixed")
            qrt.dcast(X, out=values)
            qrt.dcast(X)
            qrt.clamp(X, 0, 6.0)

    run(5)
    counts = [sys.getrefcount(o) for o in objects]
    tracemalloc.start()
    try:
        run(100)
        before, _ = tracemalloc.get_traced_memory()
        run(20_000)
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 2000
    assert all(abs(sys.getrefcount(o) - n) < 100 for o, n in zip(objects, counts, strict=True))


def test_misses_leave_nothing_behind() -> None:
    types = [UniformType("i8", "f32", 0.5 + i) for i in range(4)]
    counts = [sys.getrefcount(t) for t in types]
    for n in itertools.chain(range(1, 700), range(1, 700)):  # more than the cache holds: each evicts another
        for t in types:
            with pytest.raises(QuantTypeError):
                qrt.matmul(filled((n,), t), filled((n + 1,), t))
            with pytest.raises(TypeError):
                qrt.relu(filled((1,), t), nothing=n)
    gc.collect()
    assert all(sys.getrefcount(t) - n < 50 for t, n in zip(types, counts, strict=True))


def test_eight_threads_of_mixed_calls_give_the_bits_of_one() -> None:
    packed = qrt.pack(Y)
    calls: list[Call] = [*CALLS.values(), (qrt.matmul, (X, packed), {"out_type": OUT})]
    expected = [long_way(f, *a, **k) if isinstance(f, Function) else f(*a, **k) for f, a, k in calls]

    def work(seed: int) -> bool:
        order = np.random.default_rng(seed).integers(0, len(calls), 2000)
        outs = [e.copy() for e in expected]
        right = True
        for n, i in enumerate(order.tolist()):
            function, args, kwargs = calls[i]
            if n % 3 == 0:
                with kernels.use("ref" if n % 2 else kernels.available()[-1]):
                    right &= same(function(*args, **kwargs), expected[i])
            elif n % 3 == 1:
                right &= same(function(*args, **kwargs, out=outs[i]), expected[i])
            else:
                right &= same(function(*args, **kwargs), expected[i])
        return right

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


# ---------------------------------------------------------------------------------------------- functions are functions


HOMES = {"matmul": "products", "conv2d": "products", "qcast": "casts", "dcast": "casts"}


@pytest.mark.parametrize("function", [getattr(qrt, name) for name in HOMES])
def test_functions_look_like_functions(function: Any) -> None:
    name = function.__name__
    signature = inspect.signature(function)
    assert signature.return_annotation is not inspect.Signature.empty
    assert "EagerCall" not in str(signature)
    assert inspect.isroutine(function)
    module = f"qrt.tensor.{HOMES[name]}"
    assert function.__module__ == module
    assert inspect.getsource(function).startswith("@eager")
    assert pydoc.render_doc(function, renderer=pydoc.plaintext).splitlines()[2].startswith(f"{name}(")
    assert repr(function) == f"<function {module}.{name}>"
    assert pickle.loads(pickle.dumps(function)) is function
    assert copy.deepcopy(function) is function
