"""Packed weights: the results of the unpacked, storage that nobody can change, and packings that go with it."""

import copy
import gc
import os
import pickle
import subprocess
import sys
import weakref
from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt import PackedTensor, QuantTensor, UniformType, kernels
from qrt.errors import QuantTypeError
from tests.tensor.test_calls import BIAS, CALLS, CHANNELS, I8, I16, I32, OUT, U4, U8, W, X, Y, filled


@pytest.mark.parametrize("isa", kernels.available())
@pytest.mark.parametrize("weights", [W, U8, U4, I16, UniformType("i8", "f32", [0.5, 1.0, 2.0, 4.0], axis=1)])
def test_packed_weights_give_the_same_results(isa: str, weights: UniformType) -> None:
    w, bias = filled((4, 4), weights), filled((4,), UniformType("i32", "f32", 0.1), 6)  # a bias that is rescaled
    packed, packed_bias = qrt.pack(w), qrt.pack(bias)
    with kernels.use(isa):
        for a in (filled((3, 4)), filled((4,)), filled((2, 3, 4)), filled((6, 8))[::2, ::2]):
            for _ in range(2):
                assert qrt.matmul(a, packed, out_type=OUT).equals(qrt.matmul(a, w, out_type=OUT))
                expected = qrt.matmul(a, w, bias=bias, out_type=OUT)
                assert qrt.matmul(a, packed, bias=bias, out_type=OUT).equals(expected)
                assert qrt.matmul(a, packed, bias=packed_bias, out_type=OUT).equals(expected)
                assert qrt.matmul(a, w, bias=packed_bias, out_type=OUT).equals(expected)
                out = filled(expected.shape, OUT)
                assert qrt.matmul(a, packed, bias=packed_bias, out=out).equals(expected)


@pytest.mark.parametrize("isa", kernels.available())
def test_packed_weights_of_every_function(isa: str) -> None:
    with kernels.use(isa):
        for function, args, kwargs in (CALLS[name] for name in ("conv2d", "depthwise_conv2d", "lookup", "add", "sub")):
            expected = function(*args, **kwargs)
            packed = args[0], qrt.pack(args[1])
            for _ in range(2):
                assert function(*packed, **kwargs).equals(expected)
        assert (X @ qrt.pack(Y)).equals(X @ Y)
        p = qrt.pack(X)
        for _ in range(2):
            assert qrt.matmul(p, p, out_type=OUT).equals(qrt.matmul(X, X, out_type=OUT))


def test_weights_packed_differently_are_not_mixed_up() -> None:
    """Two of one type and shape, and two biases: kept calls hold their values."""
    tensors = [filled((4, 4), W, seed) for seed in range(3)]
    biases = [filled((4,), I32, seed) for seed in range(3)]
    packed, packed_biases = [qrt.pack(w) for w in tensors], [qrt.pack(b) for b in biases]
    for _ in range(2):
        for w, p in zip(tensors, packed, strict=True):
            for bias, packed_bias in zip(biases, packed_biases, strict=True):
                expected = qrt.matmul(X, w, bias=bias, out_type=OUT)
                assert qrt.matmul(X, p, bias=packed_bias, out_type=OUT).equals(expected)
                assert qrt.matmul(X, w, bias=packed_bias, out_type=OUT).equals(expected)


def test_packed_weights_never_change() -> None:
    w = filled((4, 4), W)
    packed, expected = qrt.pack(w), qrt.matmul(X, w, out_type=OUT)
    assert qrt.pack(packed) is packed
    for array in (packed._data, packed.storage, packed.storage.base, packed[1:].storage, packed.T.storage):
        with pytest.raises(ValueError, match="WRITEABLE"):
            array.flags.writeable = True
    with pytest.raises(QuantTypeError, match="clamp: 'out' must be writable, got a read-only tensor"):
        qrt.relu(packed, out=packed)
    with pytest.raises(AttributeError):
        packed.type = U8  # type: ignore[misc]
    qrt.clamp(w, 0.0, 0.0, out=w)
    assert qrt.matmul(X, packed, out_type=OUT).equals(expected)
    assert not qrt.matmul(X, w, out_type=OUT).equals(expected)


def test_a_packed_tensor_is_a_tensor() -> None:
    q = filled((2, 3), CHANNELS.with_(scales=[1.0, 2.0, 4.0], zero_points=[0, 0, 0]))
    packed = qrt.pack(q)
    assert isinstance(packed, QuantTensor)
    assert packed.equals(q)
    assert (packed.type, packed.shape, packed.storage.tolist()) == (q.type, q.shape, q.storage.tolist())
    assert repr(packed).startswith("PackedTensor([[")
    assert type(packed.T) is type(packed[:1]) is type(packed.reshape(2, 3)) is type(packed.copy()) is QuantTensor
    made = packed.copy()
    qrt.clamp(made, 0.0, 0.0, out=made)  # a copy may be written
    assert packed.equals(q)
    assert copy.copy(packed) is copy.deepcopy(packed) is packed
    with pytest.raises(
        QuantTypeError,
        match=r"pack: 'w' must be a QuantTensor, got an ndarray of shape \(3,\): "
        r"qrt\.quantize\(w, bits=8\) makes one",
    ):
        qrt.pack(np.zeros(3))  # type: ignore[arg-type]


@pytest.mark.parametrize("t", [W, U4, I16], ids=str)
def test_a_packed_element_has_no_axis(t: UniformType) -> None:
    q = QuantTensor(3, t)
    packed = qrt.pack(q)
    assert packed.equals(q)
    assert packed.storage.shape == packed.shape == np.asarray(packed).shape == ()
    assert packed[()].equals(q)
    assert (packed + q).equals(q + q)


def test_pickles_that_name_the_package_are_read() -> None:
    """As those do which were written while it was one file."""
    for q in (filled((4, 4), W), qrt.pack(filled((4, 4), W))):
        text = pickle.dumps(q, 0)
        old = text.replace(b"qrt.tensor.quant_tensor", b"qrt.tensor")
        assert old != text
        assert pickle.loads(old).equals(q)


@pytest.mark.parametrize("w", [filled((4, 4), W), filled((3, 5), U4), filled((0, 4), W), filled((4, 4), W).T])
def test_pickles_hold_the_storage_alone(w: QuantTensor) -> None:
    packed = qrt.pack(w)
    size = len(pickle.dumps(packed))
    qrt.matmul(filled((2, w.shape[0])), packed, out_type=OUT)
    assert len(pickle.dumps(packed)) == size
    loaded = pickle.loads(pickle.dumps(packed))
    assert isinstance(loaded, PackedTensor)
    assert loaded.equals(w)
    assert qrt.matmul(filled((2, w.shape[0])), loaded, out_type=OUT).equals(
        qrt.matmul(filled((2, w.shape[0])), w, out_type=OUT)
    )


def test_what_is_packed_goes_with_its_tensor() -> None:
    """Held by no cycle and no cache of the process."""
    packed, bias = qrt.pack(Y), qrt.pack(BIAS)
    other = qrt.pack(filled((4, 4), W, 7))
    for _ in range(2):
        for w in (packed, other):
            qrt.matmul(X, w, bias=bias, out_type=OUT)
            qrt.matmul(X[::2], w, bias=bias, out_type=OUT)
    gone = weakref.ref(packed), weakref.ref(packed._data)
    gc.disable()
    try:
        del packed, w
        assert [ref() for ref in gone] == [None, None]
    finally:
        gc.enable()


def test_a_packed_tensor_keeps_few_calls() -> None:
    packed = qrt.pack(Y)
    for n in range(1, 40):
        assert qrt.matmul(filled((n, 4)), packed, out_type=OUT).shape == (n, 4)
    assert len(packed._cache) == 8


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads /proc")
def test_calls_of_several_batches_share_what_is_packed() -> None:
    """Eight signatures that differ in the rows of `a` alone, on 4 MB of weights: one copy of them, and one packing for
    each microkernel."""
    program = """
import os, numpy as np, qrt
def resident(): return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
t, out = qrt.UniformType("i8", "f32", 0.5), qrt.UniformType("i8", "f32", 100.0)
w = qrt.QuantTensor(np.ones((2048, 2048), np.int8), t)
a = qrt.QuantTensor(np.ones((8, 2048), np.int8), t)
for m in range(1, 9): qrt.matmul(a[:m], w, out_type=out)
packed, before = qrt.pack(w), resident()
for m in range(1, 9): assert qrt.matmul(a[:m], packed, out_type=out).equals(qrt.matmul(a[:m], w, out_type=out))
print((resident() - before) / 2**22)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 3.5  # avx512 packs 8 bits as 16; avx2 so, and as bytes for a single row


def test_a_packing_is_shared_only_where_it_is_the_same() -> None:
    """Other zero points and another ISA; the first call, whose packing others use, may go first."""
    w = filled((70, 40), W, 3)
    others = [qrt.pack(QuantTensor(w.storage, W.with_(zero_points=z))) for z in (0, 5)]
    wide = UniformType("i32", "f32", 0.5)
    for isa in kernels.available():
        with kernels.use(isa):
            for packed in others:
                plain = packed.copy()
                for n in range(1, 20):
                    for t in (I8, U8, I16):
                        a = filled((n, 70), t)
                        assert qrt.matmul(a, packed, out_type=wide).equals(qrt.matmul(a, plain, out_type=wide))


MEMORY = """
import sys
import numpy as np, qrt
from qrt import QuantTensor, UniformType

def resident():
    with open("/proc/self/status") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

def multiply(w):
    for m in map(int, sys.argv[2].split(",")):
        qrt.float_matmul(np.ones((m, w.shape[0]), np.float32), w)

K, N = 384, 30000
rng = np.random.default_rng(0)
rows, columns = rng.random(K).tolist(), rng.random(N).tolist()
t = {
    "layer": UniformType("i8", "f32", 0.5),
    "columns": UniformType("i8", "f32", columns, axis=0),
    "rows": UniformType("i8", "f32", rows, axis=1),
    "rows with zero points": UniformType("i8", "f32", rows, [k % 50 for k in range(K)], axis=1),
    "rows of nibbles": UniformType("i4", "f32", rows, axis=1),
    "nibbles": UniformType("i4", "f32", 0.5),
}[sys.argv[1]]
q = QuantTensor(rng.integers(-8, 8, (N, K)).astype(np.int8), t)
w = q.T.copy()  # so that transposing takes no memory later
multiply(qrt.pack(QuantTensor(np.ones((K, 40), np.int8), UniformType("i8", "f32", 0.5))))  # the memory of threads
count, before = w.storage.nbytes, resident()
packed = qrt.pack(w)
multiply(packed)
print((resident() - before - 65536) / count)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("batches", ["1", "1,64", "1,2,3,4,5,6,7,64"])
@pytest.mark.parametrize("kind", ["layer", "columns", "rows", "rows with zero points", "rows of nibbles", "nibbles"])
def test_packed_weights_and_calls_take_a_bounded_memory(kind: str, batches: str) -> None:
    """However many batch sizes they are used with."""
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "QRT_NUM_THREADS": "1"}  # what is freed is gone
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, kind, batches], capture_output=True, text=True, check=True, env=environment
    )
    assert float(done.stdout) < 2.5


@pytest.mark.parametrize("value", [(1, 2), None, 3, "x", np.int8([1])], ids=str)
def test_only_a_tensor_is_packed(value: object) -> None:
    for make in (PackedTensor, qrt.pack):
        with pytest.raises(QuantTypeError, match=r"(PackedTensor: 'q'|pack: 'w') must be a QuantTensor, got "):
            make(value)  # type: ignore[arg-type]
    with pytest.raises(QuantTypeError, match="PackedTensor: an argument is missing: 'q'"):
        PackedTensor()  # type: ignore[call-arg]
