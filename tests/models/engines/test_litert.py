"""LiteRT in its process. Hazards: a crash, a hang or a growth of LiteRT that is one of ours; a state that outlives a
reset, or that is lost between runs; a process that ended and is taken for one that holds a model; a missing package."""

import sys

import numpy as np
import pytest

from qrt.errors import ModelError, QuantTypeError
from qrt.models.engines.litert import LiteRT
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")


@pytest.fixture(scope="module")
def litert():
    with LiteRT(seconds=30) as engine:
        yield engine


def added():
    x, one = Tensor((1, 4), scales=1), Tensor((1, 4), scales=1, data=1)
    middle, y = Tensor((1, 4), scales=1, name="middle"), Tensor((1, 4), scales=1)
    steps = [Operator("ADD", [x, one], [middle]), Operator("MUL", [middle, middle], [y])]
    return write([Subgraph([x], [y], steps)])


def counter():
    """Counts calls in a variable, which begins at 10."""
    y, old, new, one = (Tensor((1,), "float32", data=data) for data in (None, None, None, [1]))
    handle, again = Tensor((), "resource"), Tensor((), "resource")
    start = Tensor((1,), "float32", data=[10])
    steps = [
        Operator("CALL_ONCE", [], [], {"init_subgraph_index": 1}),
        Operator("VAR_HANDLE", [], [handle]),
        Operator("READ_VARIABLE", [handle], [old]),
        Operator("ADD", [old, one], [new]),
        Operator("ASSIGN_VARIABLE", [handle, new], []),
        Operator("NEG", [new], [y]),
    ]
    once = [Operator("VAR_HANDLE", [], [again]), Operator("ASSIGN_VARIABLE", [again, start], [])]
    return write([Subgraph([], [y], steps), Subgraph([], [], once)])


def endless():
    def same():
        x, y = Tensor((), "bool"), Tensor((), "bool")
        return Subgraph([x], [y], [Operator("LOGICAL_OR", [x, x], [y])])

    x, y = Tensor((), "bool"), Tensor((), "bool")
    loop = Operator("WHILE", [x], [y], {"cond_subgraph_index": 1, "body_subgraph_index": 2})
    return write([Subgraph([x], [y], [loop]), same(), same()])


def crashing():
    x = Tensor((1, 4), scales=1)
    return one_op("RESHAPE", [x, None], [Tensor((2, 2), scales=1)], {"new_shape": [2, 2]})


@pytest.mark.parametrize("profile", ["litert", "litert-ref"])
def test_every_tensor_of_a_run(litert, profile):
    model = litert.load(added(), profile=profile, keeps_tensors=True, threads=2)
    assert [port.shape for port in model.inputs] == [(1, 4)]
    x = np.int8([[1, 2, 3, -5]])
    assert model.readable() >= {0, 2, 3}
    middle, y = model.run([x], [2, 3])
    assert middle.tolist() == [[2, 3, 4, -4]]
    assert y.tolist() == [[4, 9, 16, 16]]
    assert model.run([x])[0].tolist() == y.tolist()
    assert model.timed([x], 3) > 0


def test_state_stays_until_a_reset(litert):
    model, other = litert.load(counter()), litert.load(counter())
    assert [model.run([])[0].item() for _ in range(3)] == [-11, -12, -13]
    assert other.run([])[0].item() == -11
    model.reset()
    assert model.run([])[0].item() == -11


def test_another_shape_resizes(litert):
    model = litert.load(one_op("NEG", [Tensor((1, 2), "float32", signature=(-1, 2))], [Tensor((1, 2), "float32")]))
    assert model.run([np.float32([[1, 2], [3, 4]])])[0].tolist() == [[-1, -2], [-3, -4]]


def test_a_crash_is_an_error_and_the_next_model_runs():
    with LiteRT(seconds=30) as litert:
        before = litert.load(added(), name="before")
        with pytest.raises(ModelError, match=r"^LiteRT crashed \(SIG.*: crashing\.tflite$"):
            litert.load(crashing(), name="crashing.tflite").run([np.zeros((1, 4), np.int8)])
        with pytest.raises(
            ModelError, match="the process of LiteRT that had loaded before has ended: load the model again"
        ):
            before.run([np.zeros((1, 4), np.int8)])
        before.close()
        assert litert.load(added()).run([np.zeros((1, 4), np.int8)])[0].tolist() == [[1] * 4]
        with pytest.raises(ModelError, match="LiteRT with before has ended"):
            before.run([np.zeros((1, 4), np.int8)])


def test_a_hang_is_an_error():
    with LiteRT(seconds=30) as litert:
        model = litert.load(endless(), name="endless")
        litert._child.seconds = 0.5
        with pytest.raises(ModelError, match=r"^LiteRT did not answer within 0.5 s and was ended: endless$"):
            model.run([np.array(True)])


def test_memory_has_a_limit():
    size = 1 << 29
    with LiteRT(seconds=30, max_bytes=2 << 30) as litert, pytest.raises(ModelError, match="LiteRT"):
        litert.load(one_op("NEG", [Tensor((size,), "float32")], [Tensor((size,), "float32")]))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda engine: engine.load(b"none"), "LiteRT rejects the model: "),
        (lambda engine: engine.load("/nowhere.tflite"), "LiteRT rejects /nowhere.tflite: "),
        (lambda engine: engine.load(added()).run([np.zeros((1, 4), np.float32)]), "expected type INT8"),
        (lambda engine: engine.load(added()).run([]), "the model has 1 inputs, got 0"),
        (lambda engine: engine.load(added(), profile="litert-reff"), "did you mean litert-ref"),
    ],
)
def test_what_is_refused(litert, call, message):
    with pytest.raises(ModelError) as caught:
        call(litert)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


def test_threads_are_counted_from_one(litert):
    with pytest.raises(QuantTypeError, match="threads must be at least 1, got 0"):
        litert.load(added(), threads=0)


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "ai_edge_litert", None)
    with pytest.raises(
        ImportError,
        match=r"the package ai_edge_litert is needed and is not installed: install "
        r'it by pip install "qrt\[litert\]"',
    ):
        LiteRT()
