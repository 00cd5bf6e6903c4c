"""Attention of com.microsoft beside NumPy, where ONNX Runtime's CPU kernels refuse a form. Hazards: a mask of four axes
whose rows begin behind the past, a past without a present, lengths beyond the cache."""

from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from tests.models.onnx.running import run
from tests.models.onnx.writing import model, node, port

OWN = "com.microsoft"
KINDS = {"float32": "FLOAT", "int32": "INT32"}


def _content(type: str, order: list[str], given: dict[str, Any], outputs: list[str], **said: Any) -> bytes:
    made = node(type, order, outputs, domain=OWN, **said)
    ports = [port(name, KINDS[array.dtype.name], array.shape) for name, array in given.items()]
    return model([made], ports, [port(name) for name in outputs if name])


def _attention(q: Any, k: Any, v: Any, summand: Any) -> Any:
    """The attention of one head."""
    scores = q.astype(np.float64) @ k.T / np.sqrt(q.shape[1]) + summand
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True) @ v


@pytest.mark.parametrize("type", ["MultiHeadAttention", "Attention"])
def test_the_rows_of_a_mask_of_four_axes_begin_behind_the_past(type: str) -> None:
    rng = np.random.default_rng(0)
    steps, past, size, longest = 3, 2, 4, 7
    q, k, v, *earlier = (rng.normal(size=(n, size)).astype(np.float32) for n in (steps, steps, steps, past, past))
    mask = rng.integers(0, 2, (1, 1, longest, longest)).astype(np.int32)
    summand = np.where(mask[0, 0, past : past + steps, : past + steps] > 0, 0, -10000)
    wanted = _attention(q, np.concatenate([earlier[0], k]), np.concatenate([earlier[1], v]), summand)
    if type == "Attention":
        given = {"x": np.concatenate([q, k, v], axis=1)[None], "w": np.eye(3 * size, dtype=np.float32), "m": mask,
                 "past": np.stack(earlier)[:, None, None]}  # fmt: skip
        content = _content(type, ["x", "w", "", "m", "past"], given, ["y", "p"], num_heads=1)
    else:
        given = {"q": q[None], "k": k[None], "v": v[None], "m": mask}
        given |= {name: array[None, None] for name, array in zip(("pk", "pv"), earlier, strict=True)}
        order = ["q", "k", "v", "", "m", "", "pk", "pv"]
        content = _content(type, order, given, ["y", "a", "b"], num_heads=1)
    result = run(content, **given)[0]
    np.testing.assert_allclose(result[0], wanted, atol=1e-5)


@pytest.mark.parametrize("outputs", [["y"], ["y", "a"], ["y", "", "b"]])
def test_a_past_without_a_present_is_refused(outputs: list[str]) -> None:
    given = {name: np.zeros((1, 2, 4), np.float32) for name in "qkv"}
    given |= {name: np.zeros((1, 1, 2, 4), np.float32) for name in ("pk", "pv")}
    order = ["q", "k", "v", "", "", "", "pk", "pv"]
    with pytest.raises(ModelError, match="without present keys and values, which ONNX Runtime computes wrongly"):
        run(_content("MultiHeadAttention", order, given, outputs, num_heads=1), **given)
    given |= {"l": np.int32([1]), "t": np.array(2, np.int32)}
    order = ["q", "k", "v", "pk", "pv", "l", "t"]
    with pytest.raises(ModelError, match="without present keys and values, which ONNX Runtime computes wrongly"):
        run(_content("GroupQueryAttention", order, given, outputs, num_heads=1, kv_num_heads=1), **given)


def test_lengths_beyond_the_cache_are_an_error_of_the_run() -> None:
    given: dict[str, Any] = {name: np.zeros((1, 1, 16), np.float32) for name in "qkv"}
    given |= {name: np.zeros((1, 1, 3, 16), np.float32) for name in ("pk", "pv")}
    given |= {"l": np.int32([3]), "t": np.array(4, np.int32)}
    content = _content("GroupQueryAttention", list(given), given, ["y", "a", "b"], num_heads=1, kv_num_heads=1)
    with pytest.raises(ModelError, match="must be at least 0 and less than the sizes"):
        run(content, **given)
    given["l"] = np.int32([2])
    assert run(content, **given)[1].shape == (1, 1, 3, 16)


def test_lengths_of_a_prompt_do_not_move_its_keys() -> None:
    """Where the total length is that of the new steps, they are the first ones, whatever the lengths are."""
    rng = np.random.default_rng(0)
    given: dict[str, Any] = {name: rng.normal(size=(2, 3, 16)).astype(np.float32) for name in "qkv"}
    given |= {name: np.ones((2, 1, 5, 16), np.float32) for name in ("pk", "pv")}
    given |= {"l": np.int32([4, 0]), "t": np.array(3, np.int32)}
    content = _content("GroupQueryAttention", list(given), given, ["y", "a", "b"], num_heads=1, kv_num_heads=1)
    _, keys, values = run(content, **given)
    for present, new in ((keys, given["k"]), (values, given["v"])):
        np.testing.assert_array_equal(present[:, 0], np.pad(new, ((0, 0), (0, 2), (0, 0))))


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"local_window_size": 0}, r"local_window_size must be -1 or from 1 to 2\^31 - 1, got 0"),
        ({"local_window_size": 2**40}, r"local_window_size must be -1 or from 1 to 2\^31 - 1, got"),
        ({"smooth_softmax": 2}, "attribute 'smooth_softmax' must be 0 or 1, got 2"),
        ({"causal": -1}, "attribute 'causal' must be 0 or 1, got -1"),
        ({"causal": 0, "local_window_size": 2}, "local_window_size must be -1 if the attention is not causal"),
        ({"kv_num_heads": 0}, "attribute 'kv_num_heads' must be at least 1, got 0"),
        ({"k_quant_type": "PER_TENSOR"}, "with k_quant_type"),
    ],
)
def test_attributes_that_are_refused(more: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {name: np.zeros((1, 1, 16), np.float32) for name in "qkv"}
    given |= {"l": np.int32([0]), "t": np.array(1, np.int32)}
    order = ["q", "k", "v", "", "", "l", "t"]
    said = {"num_heads": 1, "kv_num_heads": 1, **more}
    with pytest.raises(ModelError, match=message):
        run(_content("GroupQueryAttention", order, given, ["y", "a", "b"], **said), **given)


def test_a_total_length_that_no_memory_holds() -> None:
    given: dict[str, Any] = {name: np.zeros((1, 1, 16), np.float32) for name in "qkv"}
    given |= {"l": np.int32([0])}
    made = node("GroupQueryAttention", ["q", "k", "v", "", "", "l", "t"], ["y", "a", "b"], domain=OWN, num_heads=1,
                kv_num_heads=1)  # fmt: skip
    ports = [port(name, KINDS[array.dtype.name], array.shape) for name, array in given.items()]
    for total, message in ((2**31 - 1, "takes more than the limit"), (0, "must be at least the 1 new steps, got 0")):
        with pytest.raises(ModelError, match=message):
            run(model([made], ports, [port(name) for name in "yab"], {"t": np.array(total, np.int32)}), **given)
