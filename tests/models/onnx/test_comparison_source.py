"""What the importer says of a file that is compared. Hazards: a tensor between casts that counts as one of its own; a
bound on sums that counts padding, forgets the bias or takes a negative factor as it is."""

import numpy as np

import qrt
from qrt.models.onnx.comparison_source import compared
from qrt.models.profiles import profile
from tests.models.onnx.writing import model, node, port

RNG = np.random.default_rng(0)


def magnitudes_and_terms(content, **operands):
    (made,) = compared(content, profile("ort")).tensors
    assert set(made.reads) == set(operands)
    found = []
    for change in (np.abs, np.ones_like):
        program = qrt.compile(made.alone(change, operands))
        found.extend(program.run({name: change(array) for name, array in operands.items()}).values())
    return found


def test_terms_of_a_product():
    x, w, c = (RNG.normal(size=shape).astype(np.float32) for shape in ((3, 5), (5, 2), (2,)))
    made = node("Gemm", ["x", "w", "c"], ["y"], alpha=-0.5, beta=-2.0)
    content = model([made], [port("x", shape=["n", 5])], [port("y", shape=["n", 2])], {"w": w, "c": c})
    magnitudes, terms = magnitudes_and_terms(content, x=x)
    assert (terms == 6).all()
    np.testing.assert_allclose(magnitudes, 0.5 * np.abs(x) @ np.abs(w) + 2 * np.abs(c), rtol=1e-6)


def test_padding_is_no_term():
    x, w = RNG.normal(size=(1, 2, 4, 4)).astype(np.float32), RNG.normal(size=(1, 2, 3, 3)).astype(np.float32)
    made = node("Conv", ["x", "w"], ["y"], pads=[1, 1, 1, 1])
    content = model([made], [port("x", shape=x.shape)], [port("y", shape=(1, 1, 4, 4))], {"w": w})
    magnitudes, terms = magnitudes_and_terms(content, x=x)
    assert terms[0, 0, 0].tolist() == [8, 12, 12, 8]
    np.testing.assert_allclose(magnitudes[0, 0, 1, 1], (np.abs(x[0, :, :3, :3]) * np.abs(w[0])).sum(), rtol=1e-6)


def test_terms_of_a_transposed_convolution():
    x, w = RNG.normal(size=(1, 2, 3, 3)).astype(np.float32), RNG.normal(size=(2, 1, 2, 2)).astype(np.float32)
    made = node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])
    content = model([made], [port("x", shape=x.shape)], [port("y", shape=(1, 1, 6, 6))], {"w": w})
    magnitudes, terms = magnitudes_and_terms(content, x=x)
    assert (terms == 2).all()  # the channels
    np.testing.assert_allclose(magnitudes[0, 0, 0, 1], (np.abs(x[0, :, 0, 0]) * np.abs(w[:, 0, 0, 1])).sum(), rtol=1e-6)


def test_two_computed_operands():
    x = RNG.normal(size=(3, 3)).astype(np.float32)
    content = model([node("MatMul", ["x", "x"], ["y"])], [port("x", shape=(3, 3))], [port("y", shape=(3, 3))])
    magnitudes, terms = magnitudes_and_terms(content, x=x)
    assert (terms == 3).all()
    np.testing.assert_allclose(magnitudes, np.abs(x) @ np.abs(x), rtol=1e-6)


def test_inputs_say_what_may_be_given():
    content = model(
        [node("DequantizeLinear", ["q", "s"], ["f"]), node("Gather", ["t", "i"], ["g"], axis=1)],
        [port("q", "UINT8", ["n", 3]), port("i", "INT64", [2])],
        [port("f", shape=["n", 3]), port("g", shape=[4, 2])],
        {"s": np.float32(0.5), "t": RNG.normal(size=(4, 9)).astype(np.float32)},
    )
    q, i = compared(content, profile("ort")).inputs
    assert (q.dtype, q.shape, q.zero_point) == ("uint8", ("n", 3), 128)
    assert (i.dtype, i.shape, i.zero_point, i.limit) == ("int64", (2,), None, 9)
