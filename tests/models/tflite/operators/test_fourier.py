"""Transforms of float32 matrices, whose complex results the program has as two tensors. Hazards: sizes that take one
step, two or three; half of a complex tensor that is taken for a float tensor; a size that LiteRT computes wrongly."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.models.profiles import PROFILES
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Operator, Subgraph, Tensor, one_op, write


def sizes(*values):
    return Tensor((len(values),), "int32", data=values)


def transform(x, size, part, number_shape, shape=None):
    numbers, y = Tensor(number_shape, "complex64"), Tensor(shape or number_shape, "float32")
    operators = [Operator("RFFT2D", [x, sizes(*size)], [numbers]), Operator(part, [numbers], [y])]
    return write([Subgraph([x], [y], operators)])


def program(content):
    return qrt.compile(import_model(read(content), PROFILES["litert"]))


@pytest.mark.parametrize("part", ["REAL", "IMAG"])
@pytest.mark.parametrize("size", [(1, 2), (1, 32), (1, 64), (2, 2048), (64, 4), (8, 32)])
def test_a_transform_has_the_terms_of_its_definition(size, part):
    x = np.random.default_rng(0).normal(size=(3, *size)).astype(np.float32)
    given = Tensor(x.shape, "float32")
    y = np.asarray(program(transform(given, size, part, (3, size[0], size[1] // 2 + 1)))(x))
    wanted = np.fft.rfft2(x.astype(np.float64))
    np.testing.assert_allclose(y, wanted.real if part == "REAL" else wanted.imag, rtol=2.0**-23, atol=1e-12)


def test_an_impulse_has_a_flat_spectrum_and_exact_zeros():
    x = np.zeros((1, 256), np.float32)
    x[0, 64] = 3
    for part, wanted in (("REAL", [3, 0, -3, 0]), ("IMAG", [0, -3, 0, 3])):
        y = np.asarray(program(transform(Tensor((1, 256), "float32"), (1, 256), part, (1, 129)))(x))
        assert y[0, :4].tolist() == wanted


def _inside(name, options=None):
    numbers = Tensor((1, 3), "complex64")
    results = [Tensor((1, 3), "complex64"), Tensor((1, 3), "float32")]
    x = Tensor((1, 4), "float32")
    inputs = [numbers, numbers] if name in ("ADD", "CONCATENATION") else [numbers]
    operators = [
        Operator("RFFT2D", [x, sizes(1, 4)], [numbers]),
        Operator(name, inputs, results[:1], options or {}),
        Operator("COMPLEX_ABS", results[:1], results[1:]),
    ]
    return write([Subgraph([x], results[1:], operators)])


X, Y = Tensor((2, 4), "float32"), Tensor((2, 3), "complex64")
REFUSED = {
    "a transform of one column": (one_op("RFFT2D", [X, sizes(2, 1)], [Y]), "a transform of one column, which LiteRT"),
    "a size that is no power of two": (one_op("RFFT2D", [X, sizes(2, 6)], [Y]), r"the sizes \[2, 6\] of the transform"),
    "sizes of the run": (one_op("RFFT2D", [X, Tensor((2,), "int32")], [Y]), "the sizes of a transform known only at"),
    "a complex result": (one_op("RFFT2D", [X, sizes(2, 4)], [Y]), "'t2' is of complex64, which only operators inside"),
    "a complex argument": (one_op("COMPLEX_ABS", [Y], [Tensor((2, 3), "float32")]), "'t0' is of complex64"),
    "magnitudes of floats": (one_op("COMPLEX_ABS", [X], [Tensor((2, 4), "float32")]), r"COMPLEX_ABS \(float32\)"),
    "a sum of complex numbers": (_inside("ADD"), r"ADD \(complex numbers\)"),
    "numbers that are cast": (_inside("CAST"), r"CAST \(complex numbers\)"),
    "a floating result": (one_op("RFFT2D", [X, sizes(2, 4)], [Tensor((2, 3), "float32")]), "a result of float32"),
    "complex constants": (
        one_op("REAL", [Tensor((2,), "complex64", data=[1, 2j])], [Tensor((2,), "float32")]),
        r"REAL \(complex numbers that RFFT2D does not compute\)",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    content, message = REFUSED[name]
    with pytest.raises(ModelError, match=message):
        program(content)
