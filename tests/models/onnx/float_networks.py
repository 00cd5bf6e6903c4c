"""Small networks of floats that quantizers and optimizers change: convolutions, a transformer, recurrent cells."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.models.onnx.writing import model, node, port

OPSET = 21


def _drawn(rng: np.random.Generator, *shape: int) -> Any:
    return (rng.normal(size=shape) / np.sqrt(max(1, np.prod(shape[1:])))).astype(np.float32)


def convolutions() -> bytes:
    """Grouped, depthwise and plain convolutions, a normalization, activations, pools and a classifier."""
    rng = np.random.default_rng(0)
    positive = {name: np.abs(_drawn(rng, 16)) + 1 for name in ("scale", "variance")}
    constants = {"w1": _drawn(rng, 16, 3, 3, 3), "b1": _drawn(rng, 16), **positive, "offset": _drawn(rng, 16),
                 "mean": _drawn(rng, 16), "w2": _drawn(rng, 16, 4, 3, 3), "b2": _drawn(rng, 16),
                 "w3": _drawn(rng, 16, 1, 3, 3), "w4": _drawn(rng, 24, 16, 1, 1), "b4": _drawn(rng, 24),
                 "w5": _drawn(rng, 24, 10), "b5": _drawn(rng, 10), "low": np.float32(0),
                 "high": np.float32(6)}  # fmt: skip
    pads = [1, 1, 1, 1]
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], pads=pads, strides=[2, 2]),
        node("BatchNormalization", ["c1", "scale", "offset", "mean", "variance"], ["n1"]),
        node("Relu", ["n1"], ["r1"]),
        node("Conv", ["r1", "w2", "b2"], ["c2"], pads=pads, group=4),
        node("Add", ["c2", "r1"], ["a2"]),
        node("Relu", ["a2"], ["r2"]),
        node("Conv", ["r2", "w3"], ["c3"], pads=pads, group=16),
        node("Clip", ["c3", "low", "high"], ["r3"]),
        node("MaxPool", ["r3"], ["p3"], kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["p3", "w4", "b4"], ["c4"]),
        node("Sigmoid", ["c4"], ["s4"]),
        node("Mul", ["c4", "s4"], ["m4"]),
        node("AveragePool", ["m4"], ["q4"], kernel_shape=[2, 2], strides=[2, 2]),
        node("LeakyRelu", ["q4"], ["l4"], alpha=0.1),
        node("GlobalAveragePool", ["l4"], ["g4"]),
        node("Flatten", ["g4"], ["f4"]),
        node("Gemm", ["f4", "w5", "b5"], ["z"]),
        node("Softmax", ["z"], ["y"], axis=1),
    ]
    return model(nodes, [port("x", shape=(1, 3, 32, 32))], [port("y", shape=(1, 10))], constants, opset=OPSET)


def transformer() -> bytes:
    """Embeddings, attention of four heads, and a layer with Gelu in steps."""
    rng, width, heads, words = np.random.default_rng(1), 32, 4, 8
    constants: dict[str, Any] = {"table": 5 * _drawn(rng, 50, width), "places": _drawn(rng, 1, words, width)}
    for name in ("q", "k", "v", "o"):
        constants |= {f"w{name}": _drawn(rng, width, width), f"b{name}": _drawn(rng, width)}
    for name in ("1", "2"):
        constants |= {f"g{name}": np.abs(_drawn(rng, width)) + 1, f"c{name}": _drawn(rng, width)}
    constants |= {"w1": _drawn(rng, width, 4 * width), "d1": _drawn(rng, 4 * width),
                  "w2": _drawn(rng, 4 * width, width), "d2": _drawn(rng, width),
                  "w3": _drawn(rng, width, 10), "d3": _drawn(rng, 10),
                  "split": np.int64([1, words, heads, width // heads]), "joined": np.int64([1, words, width]),
                  "root": np.float32(np.sqrt(width // heads)), "root2": np.float32(np.sqrt(2)), "one": np.float32(1),
                  "half": np.float32(0.5), "axes": np.int64([1])}  # fmt: skip
    nodes = [node("Gather", ["table", "ids"], ["e0"]), node("Add", ["e0", "places"], ["e"])]
    for name in ("q", "k", "v"):
        order = [0, 2, 3, 1] if name == "k" else [0, 2, 1, 3]
        nodes += [node("MatMul", ["e", f"w{name}"], [f"{name}0"]), node("Add", [f"{name}0", f"b{name}"], [f"{name}1"]),
                  node("Reshape", [f"{name}1", "split"], [f"{name}2"]),
                  node("Transpose", [f"{name}2"], [f"{name}3"], perm=order)]  # fmt: skip
    nodes += [
        node("MatMul", ["q3", "k3"], ["s0"]), node("Div", ["s0", "root"], ["s1"]),
        node("Softmax", ["s1"], ["s2"], axis=-1), node("MatMul", ["s2", "v3"], ["o0"]),
        node("Transpose", ["o0"], ["o1"], perm=[0, 2, 1, 3]), node("Reshape", ["o1", "joined"], ["o2"]),
        node("MatMul", ["o2", "wo"], ["o3"]), node("Add", ["o3", "bo"], ["o4"]), node("Add", ["o4", "e"], ["r1"]),
        node("LayerNormalization", ["r1", "g1", "c1"], ["h1"], axis=-1), node("MatMul", ["h1", "w1"], ["f0"]),
        node("Add", ["f0", "d1"], ["f1"]), node("Div", ["f1", "root2"], ["f2"]), node("Erf", ["f2"], ["f3"]),
        node("Add", ["f3", "one"], ["f4"]), node("Mul", ["f1", "f4"], ["f5"]), node("Mul", ["f5", "half"], ["f6"]),
        node("MatMul", ["f6", "w2"], ["f7"]), node("Add", ["f7", "d2"], ["f8"]), node("Add", ["f8", "h1"], ["r2"]),
        node("LayerNormalization", ["r2", "g2", "c2"], ["h2"], axis=-1),
        node("ReduceMean", ["h2", "axes"], ["p"], keepdims=0), node("Gemm", ["p", "w3", "d3"], ["y"]),
    ]  # fmt: skip
    return model(nodes, [port("ids", "INT64", (1, words))], [port("y", shape=(1, 10))], constants, opset=OPSET)


def cells() -> bytes:
    """A GRU, and an LSTM of both directions, between products."""
    rng, inputs, size = np.random.default_rng(2), 12, 16
    constants = {"w0": _drawn(rng, inputs, inputs), "b0": _drawn(rng, inputs), "w1": _drawn(rng, 1, 3 * size, inputs),
                 "r1": _drawn(rng, 1, 3 * size, size), "b1": _drawn(rng, 1, 6 * size),
                 "w2": _drawn(rng, 2, 4 * size, size), "r2": _drawn(rng, 2, 4 * size, size),
                 "b2": _drawn(rng, 2, 8 * size), "w3": _drawn(rng, 2 * size, 5), "b3": _drawn(rng, 5),
                 "axes": np.int64([1]), "shape": np.int64([0, 0, -1])}  # fmt: skip
    nodes = [
        node("MatMul", ["x", "w0"], ["x0"]), node("Add", ["x0", "b0"], ["x1"]),
        node("GRU", ["x1", "w1", "r1", "b1"], ["g0"], hidden_size=size, linear_before_reset=1),
        node("Squeeze", ["g0", "axes"], ["g1"]),
        node("LSTM", ["g1", "w2", "r2", "b2"], ["l0"], hidden_size=size, direction="bidirectional"),
        node("Transpose", ["l0"], ["l1"], perm=[0, 2, 1, 3]), node("Reshape", ["l1", "shape"], ["l2"]),
        node("MatMul", ["l2", "w3"], ["y0"]), node("Add", ["y0", "b3"], ["y"]),
    ]  # fmt: skip
    return model(nodes, [port("x", shape=(6, 1, inputs))], [port("y", shape=(6, 1, 5))], constants, opset=OPSET)


NETWORKS = {"convolutions": convolutions, "transformer": transformer, "cells": cells}


def inputs(name: str, count: int) -> Sequence[dict[str, Any]]:
    """Drawn inputs of a network."""
    rng = np.random.default_rng(3)
    if name == "transformer":
        return [{"ids": rng.integers(0, 50, (1, 8))} for _ in range(count)]
    shape = (1, 3, 32, 32) if name == "convolutions" else (6, 1, 12)
    return [{"x": rng.normal(size=shape).astype(np.float32)} for _ in range(count)]
