"""The digits network: gradients that are slightly wrong still train, and sums in another order still look right."""

import dataclasses

import numpy as np
import pytest

from examples.digits.network import (
    Network,
    col2im,
    fixed_point,
    im2col,
    matmul,
    max_pool2d_gradient,
    pool_windows,
    unrounded,
)


def loss(network: Network, images: np.ndarray, labels: np.ndarray) -> float:
    logits = network.forward(images, unrounded).logits
    log_sums = np.log(np.exp(logits).sum(axis=1))
    return float(np.mean(log_sums - logits[np.arange(len(labels)), labels]))


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(Network)])
def test_gradients_are_those_of_the_loss(name: str) -> None:
    rng = np.random.default_rng(1)
    network = Network.initial(rng)
    images, labels = rng.random((5, 8, 8, 1)), rng.integers(0, 10, 5)
    parameter, gradient = getattr(network, name), getattr(network.gradients(images, labels), name)
    assert gradient.shape == parameter.shape
    for index in rng.choice(parameter.size, 10, replace=False):
        value = parameter.flat[index]
        parameter.flat[index] = value + 1e-5
        above = loss(network, images, labels)
        parameter.flat[index] = value - 1e-5
        below = loss(network, images, labels)
        parameter.flat[index] = value
        assert gradient.flat[index] == pytest.approx((above - below) / 2e-5, rel=1e-3, abs=1e-5)


def test_products_do_not_depend_on_the_order_of_summation() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=(7, 8192)), rng.normal(size=(8192, 5))
    order = rng.permutation(8192)
    assert (a @ b).tobytes() != (a[:, order] @ b[order]).tobytes()
    a, b = fixed_point(a), fixed_point(b)
    assert matmul(a, b).tobytes() == matmul(a[:, order], b[order]).tobytes()


def test_a_sum_that_may_round_is_refused() -> None:
    with pytest.raises(ValueError, match="8193 products"):
        matmul(np.ones((1, 8193)), np.ones((8193, 1)))


@pytest.mark.parametrize("largest", [1.0, 0.999999999, 3e-30, 5e20])
def test_fixed_point_keeps_20_bits(largest: float) -> None:
    x = np.array([largest, largest / 3, -largest / 7])
    assert np.abs(fixed_point(x) - x).max() <= largest * 2.0**-20
    assert not fixed_point(np.zeros(3)).any()


@pytest.mark.parametrize("padding", [0, 1, 2])
def test_col2im_is_the_transpose_of_im2col(padding: int) -> None:
    rng = np.random.default_rng(3)
    images = rng.integers(-9, 9, (2, 5, 6, 3)).astype(np.float64)
    columns = im2col(images, 3, padding)
    other = rng.integers(-9, 9, columns.shape).astype(np.float64)
    assert np.sum(columns * other) == np.sum(images * col2im(other, images.shape, 3, padding))


def test_max_pool_gradient_goes_to_one_of_equal_maxima() -> None:
    images = np.array([[3.0, 3.0], [1.0, 3.0]]).reshape(1, 2, 2, 1)
    assert pool_windows(images).max(axis=-1).item() == 3
    assert max_pool2d_gradient(images, np.full((1, 1, 1, 1), 5.0)).ravel().tolist() == [5, 0, 0, 0]
