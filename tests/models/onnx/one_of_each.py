"""One small model of each operator that is imported, from which changed models are made."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tests.models.onnx import oracle
from tests.models.onnx.forms import Form, dtype_of, forms, real, whole
from tests.models.onnx.writing import model, node, port

MICROSOFT = "com.microsoft"
I = np.int64  # noqa: E741  # as ONNX's shapes and axes are


def key_of(made: Any) -> str:
    """The name under which the operator of a node is registered."""
    return f"{made.domain}::{made.op_type}" if made.domain else made.op_type


@cache
def models() -> dict[str, bytes]:
    """The smallest model of each operator, by the operator's name."""
    contents: dict[str, bytes] = {}

    def add(key: str, content: bytes) -> None:
        if len(content) < len(contents.get(key, content + b" ")):
            contents[key] = content

    for form in (*forms(), *_others()):
        add(f"{form.domain}::{form.type}" if form.domain else form.type, form.content())
    for number, (_, draw, _) in enumerate(oracle.forms()):
        content = draw(np.random.default_rng([number, 7])).content
        for made in onnx.load_from_string(content).graph.node:
            add(key_of(made), content)
    for key, content in _with_graphs():
        add(key, content)
    return contents


def _others() -> Iterator[Form]:
    """Operators that stand in no form, as other tests compare them."""
    for type in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
        yield Form(type, (whole(3, dtype="int32"), whole(3, dtype="int32", seed=1)), opset=18)
    yield Form("CastLike", (real(3), whole(1, dtype="int32")), opset=19)
    for type in (
        "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Celu", "Cos", "Cosh", "Elu", "Erf", "Exp", "Gelu", "Log",
        "Mish", "Selu", "Sigmoid", "Sin", "Sinh", "Softplus", "Softsign", "Tan", "Tanh",
    ):  # fmt: skip
        alpha = {"alpha": 0.5} if type in ("Celu", "Elu", "Selu") else {}
        yield Form(type, (real(3),), attributes=alpha, opset=22)
    yield Form("Swish", (real(3),), attributes={"alpha": 0.5}, opset=24)
    yield Form("Pow", (np.abs(real(3)), np.float32(2)), (1,))
    for type in ("BiasGelu", "FastGelu"):
        yield Form(type, (real(2, 3), real(3)), (1,), domain=MICROSOFT)
    yield Form("Gelu", (real(3),), domain=MICROSOFT)
    yield Form("QuickGelu", (real(3),), attributes={"alpha": 0.5}, domain=MICROSOFT)
    scale, bias = real(4, seed=1), real(4, seed=2)
    yield Form("LayerNormalization", (real(2, 4), scale, bias), (1, 2), {"axis": -1, "epsilon": 1e-3, "stash_type": 1})
    yield Form("RMSNormalization", (real(2, 4), scale), (1,), {"axis": -1, "epsilon": 1e-3}, opset=23)
    yield Form("SimplifiedLayerNormalization", (real(2, 4), scale), (1,), {"axis": -1, "epsilon": 1e-3})
    for type, more in (("SkipLayerNormalization", (bias,)), ("SkipSimplifiedLayerNormalization", ())):
        x = real(1, 2, 4), real(1, 2, 4, seed=3)
        yield Form(type, (*x, scale, *more), (2, 3)[: 1 + len(more)], {"epsilon": 1e-3}, domain=MICROSOFT)
    yield Form("Scatter", (real(3, 2), I([[0, 1]]), real(1, 2, seed=1)), (1,), {"axis": 0}, opset=10)
    yield Form("AffineGrid", (real(2, 2, 3), I([2, 1, 2, 3])), (1,), {"align_corners": 1}, opset=20)
    for type in ("BlackmanWindow", "HammingWindow", "HannWindow"):
        yield Form(type, (np.array(5),), (0,), {"periodic": 1, "output_datatype": 1})
    yield Form("CenterCropPad", (real(3, 4), I([2])), (1,), {"axes": [0]}, opset=18)
    x = real(1, 4, 6), real(4, 1, 3, seed=1), real(4, seed=2)
    yield Form("CausalConvWithState", x, (1, 2), {"activation": "silu"}, 2, opset=27)
    more = {"q_num_heads": 2, "kv_num_heads": 2, "update_rule": "linear", "scale": 0.5}
    yield Form("LinearAttention", tuple(real(1, 3, 4, seed=i) for i in range(3)), (), more, 2, opset=27)
    more = {"ignore_index": 0, "reduction": "mean"}
    for type in ("NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"):
        yield Form(type, (real(3, 5), I([1, 0, 3])), (), more, opset=22)
    yield Form("ZipMap", (real(2, 2),), attributes={"classlabels_int64s": [1, 2]}, domain="ai.onnx.ml")
    yield Form("SwiGLU", (real(2, 4), real(2, 4, seed=1)), (), {"alpha": 1.0}, opset=28)


def _with_graphs() -> Iterator[tuple[str, bytes]]:
    """If, Loop and Scan."""
    x, flag = real(3), np.array(True)
    ports = [port("x", dtype_of(x), x.shape), port("k", dtype_of(flag), ())]
    branches = {
        name: helper.make_graph([node(kind, ["x"], ["b"])], name, [], [port("b")])
        for name, kind in (("then_branch", "Neg"), ("else_branch", "Abs"))
    }
    yield "If", model([node("If", ["k"], ["y"], **branches)], ports, [port("y")])
    body = helper.make_graph(
        [node("Neg", ["s"], ["t"]), node("Identity", ["c"], ["d"]), node("Abs", ["t"], ["u"])], "body",
        [port("n", "INT64", ()), port("c", "BOOL", ()), port("s", shape=(3,))],
        [port("d", "BOOL", ()), port("t", shape=(3,)), port("u", shape=(3,))],
    )  # fmt: skip
    loop = node("Loop", ["m", "", "x"], ["y", "z"], body=body)
    yield "Loop", model([loop], ports[:1], [port("y"), port("z")], {"m": np.array(3)})
    step = helper.make_graph(
        [node("Add", ["s", "e"], ["t"]), node("Neg", ["t"], ["u"])], "step",
        [port("s", shape=()), port("e", shape=())], [port("t", shape=()), port("u", shape=())],
    )  # fmt: skip
    scan = node("Scan", ["z", "x"], ["y", "w"], body=step, num_scan_inputs=1, scan_input_directions=[1])
    yield "Scan", model([scan], ports[:1], [port("y"), port("w")], {"z": np.float32(0)})
