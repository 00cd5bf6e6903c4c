"""The float program is the network, with the same bits on every machine. Hazards: weights in another order, sums whose
order depends on the CPU, values that stay floats in silence."""

from itertools import product

import numpy as np
import pytest

import qrt
from examples.digits import demo
from examples.digits.network import Array, Network, pool_windows, unrounded
from examples.digits.write_float import write_float
from tests import mlir_opt

COMMITTED = demo.PROGRAM.with_name("digits_float.mlir")


@pytest.fixture
def network() -> Network:
    """No parameter is 0, and no two of a tensor are alike."""
    rng = np.random.default_rng(6)
    drawn = [rng.uniform(-0.5, 0.5, values.shape) for values in vars(Network.initial(rng)).values()]
    return Network(*(values.astype(np.float32) for values in drawn))


@pytest.fixture
def images() -> Array:
    return np.random.default_rng(7).random((5, 8, 8, 1)).astype(np.float32)


@pytest.fixture
def logits(network: Network, images: Array) -> Array:
    found: Array = qrt.compile(write_float(network))(images)
    return found


def test_the_program_computes_the_network(network: Network, images: Array, logits: Array) -> None:
    np.testing.assert_allclose(logits, network.forward(images, unrounded).logits, rtol=0, atol=1e-5)


def convolved(images: Array, weights: Array, bias: Array) -> Array:
    """One float32 product and one sum at a time, in the order of the loops that linalg's op has."""
    _, height, width, channels = weights.shape
    rows, columns = images.shape[1] - height + 1, images.shape[2] - width + 1
    total = np.broadcast_to(bias, (len(images), rows, columns, len(weights)))
    for i, j, c in product(range(height), range(width), range(channels)):
        total = total + images[:, i : i + rows, j : j + columns, c, None] * weights[:, i, j, c]
    return np.maximum(total, 0)


def test_its_sums_have_one_order(network: Network, images: Array, logits: Array) -> None:
    """The ranges of the quantized program come from these bits. A sum by BLAS has other ones on another CPU."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    conv1 = convolved(padded, network.conv1_weights, network.conv1_bias)
    conv2 = convolved(conv1, network.conv2_weights, network.conv2_bias)
    total = np.broadcast_to(network.dense_bias, logits.shape)
    for values, weights in zip(pool_windows(conv2).max(axis=-1).reshape(5, -1).T, network.dense_weights, strict=True):
        total = total + values[:, None] * weights
    assert logits.tobytes() == total.tobytes()


@mlir_opt.needed
def test_upstream_reads_the_program() -> None:
    accepted, said = mlir_opt.upstream(COMMITTED.read_text(encoding="utf-8"), "--allow-unregistered-dialect")
    assert accepted, said


def test_floats_are_at_the_border_alone() -> None:
    """Each op of the quantized program runs on kernels, nothing is rescaled, and no float weight is left."""
    module = qrt.load(demo.PROGRAM)
    ops = list(module.functions[0].regions[0].blocks[0])
    names = [op.name for op in ops]
    assert [name for name in names if name not in ("arith.constant", "quant.scast")] == [
        "quant.qcast",
        "qrt.conv2d",
        "qrt.conv2d",
        "qrt.max_pool2d",
        "qrt.reshape",
        "qrt.matmul",
        "quant.dcast",
        "func.return",
    ]
    assert {str(op.results[0].type.element) for op in ops if op.name == "arith.constant"} == {"i8", "i32"}
    assert {step.engine for step in qrt.compile(module).coverage()} == {"kernel"}
