"""Tensors given to other libraries and taken from them. Hazards: integers taken for values; a copy where none is
promised; a bf16 array that nobody else knows; a tensor that is part of a graph of gradients."""

import re
import warnings

import ml_dtypes
import numpy as np
import pytest

import qrt

T = qrt.UniformType("i8", "f32", 0.5, 3)
Q = qrt.quantize([[1.0, 2.5], [-1.0, 0.0]], T)
EXPRESSED = ["f16", "bf16", "f32", "f64", "f8E5M2"]


@pytest.mark.parametrize("expressed", EXPRESSED)
def test_dlpack_gives_values(expressed: str) -> None:
    q = qrt.quantize([[1.0, 2.5], [-1.0, 0.0]], qrt.UniformType("i8", expressed, 0.5, 3))
    taken = np.from_dlpack(q)
    assert taken.dtype.isbuiltin == 1
    assert taken.tolist() == [[1.0, 2.5], [-1.0, 0.0]]
    assert np.from_dlpack(qrt.values(q)).tobytes() == taken.tobytes()
    assert q.__dlpack_device__() == np.zeros(1).__dlpack_device__()
    with pytest.raises(BufferError, match=r"q\.storage"):
        np.from_dlpack(q, copy=False)


def test_dlpack_of_storage_is_no_copy() -> None:
    storage = Q.storage
    assert np.shares_memory(np.from_dlpack(storage), Q._data)


@pytest.mark.parametrize("dtype", ["int2", "int4", "uint2", "uint4"])
def test_narrow_integers_are_storage(dtype: str) -> None:
    t = qrt.UniformType(f"{'u' if dtype[0] == 'u' else 'i'}{dtype[-1]}", "f32", 0.5)
    integers = np.array([t.storage_min, t.storage_max, 0], getattr(ml_dtypes, dtype))
    assert qrt.QuantTensor(integers, t).storage.tolist() == [t.storage_min, t.storage_max, 0]
    assert qrt.scast(integers, t).storage.tolist() == [t.storage_min, t.storage_max, 0]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float64])
def test_activations_of_other_floats(dtype: type) -> None:
    a = np.random.default_rng(0).normal(size=(3, 4)).astype(dtype)
    w = qrt.quantize(np.eye(4), T)
    assert qrt.float_matmul(a, w).tobytes() == qrt.float_matmul(a.astype(np.float32), w).tobytes()


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="pandas is installed with the tests")
    assert pandas.DataFrame(Q).to_numpy().tolist() == np.asarray(Q).tolist()
    assert qrt.quantize(pandas.DataFrame([[1.0, 2.0]]), T).storage.tolist() == [[5, 7]]


def test_torch() -> None:
    torch = pytest.importorskip("torch", reason="PyTorch is no part of the tests' environment: make test-exchange")
    assert torch.from_dlpack(Q.storage).tolist() == Q.storage.tolist()
    assert torch.tensor(Q).tolist() == np.asarray(Q).tolist()
    assert torch.from_dlpack(qrt.values(Q)).tolist() == np.asarray(Q).tolist()
    for dtype in (torch.float16, torch.bfloat16, torch.float32, torch.float64):
        x = torch.tensor([[1.0, 2.5], [-1.0, 0.0]], dtype=dtype, requires_grad=True)
        assert qrt.quantize(x, T).storage.tobytes() == Q.storage.tobytes()
        assert qrt.float_matmul(x, Q).tolist() == (np.asarray(Q) @ np.asarray(Q)).tolist()
        assert qrt.quantize(torch.nn.Parameter(x.detach())[::2], T).storage.tolist() == Q.storage[::2].tolist()


def test_jax() -> None:
    numpy = pytest.importorskip("jax.numpy", reason="JAX is no part of the tests' environment: make test-exchange")
    assert numpy.asarray(Q).tolist() == np.asarray(Q).tolist()
    assert qrt.quantize(numpy.asarray([[1.0]], numpy.bfloat16), T).storage.tolist() == [[5]]


class TestHtml:
    @pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 4), (2, 30, 40), (100_000,)])
    @pytest.mark.parametrize("expressed", ["f32", "bf16", "f80"])
    def test_it_is_small_whole_and_asks_for_nothing(self, shape: tuple[int, ...], expressed: str) -> None:
        storage = np.random.default_rng(0).integers(-128, 128, shape)
        text = qrt.QuantTensor(storage, qrt.UniformType("i8", expressed, 0.5))._repr_html_()
        assert len(text) < 8000
        assert "http" not in text
        assert re.findall(r"<(\w+)", text)[0] == "div"
        for tag in ("div", "svg", "pre", "code"):
            assert text.count(f"<{tag}") == text.count(f"</{tag}>")
        assert text.count("<pre>") == 1
        assert str(shape) in text

    def test_the_histogram_counts_values(self) -> None:
        text = qrt.QuantTensor(np.int8([0] * 9 + [100]), T)._repr_html_()
        assert "10 of 10 values, -1.5 to 48.5" in text
        assert sorted(map(float, re.findall(r'height="([\d.]+)"/>', text))) == [5.3, 48.0]

    @pytest.mark.parametrize(("scale", "stored"), [(5e-324, [0, 1]), (5e-324, [1, 2]), (1.7e308, [1, -1])])
    def test_the_histogram_has_bins_at_the_ends_of_float64(self, scale: float, stored: list[int]) -> None:
        q = qrt.QuantTensor(stored, qrt.UniformType("i8", "f64", scale))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            text = q._repr_html_()
        low, high = sorted(np.asarray(q).tolist())
        assert f"2 of 2 values, {low:.4g} to {high:.4g}" in text
        assert text.count('height="48.0"/>') == 2


class TestPlots:
    def test_histogram(self) -> None:
        from qrt import plot

        axes = plot.histogram(Q, bins=5)
        assert sum(bar.get_height() for bar in axes.patches) == 4
        assert sorted(line.get_xdata()[0] for line in axes.lines) == [-65.5, 62.0]
        assert plot.histogram(Q, ax=axes) is axes

    def test_error(self) -> None:
        from qrt import plot

        axes = plot.error([[1.1, 2.5], [-1.0, 0.0]], Q)
        assert np.allclose(axes.lines[0].get_ydata(), [-0.1, 0, 0, 0])
        with pytest.raises(
            qrt.errors.QuantTypeError,
            match=r"'reference' and 'q' must have the same shape, got "
            r"\(1,\) and \(2, 2\)",
        ):
            plot.error([1.0], Q)

    @pytest.mark.parametrize("values", ["ab", [1, "x"], [1j], [None], np.array(["2020"], "M8[Y]")])
    def test_values_that_are_no_real_numbers(self, values: object) -> None:
        from qrt import plot

        with pytest.raises(
            qrt.errors.QuantTypeError,
            match=r"plot\.error: 'reference' must be real numbers, got "
            r"dtype",
        ):
            plot.error(values, Q)  # type: ignore[arg-type]
        with pytest.raises(qrt.errors.QuantTypeError, match=r"plot\.error: 'q' must be real numbers, got dtype"):
            plot.error(Q, values)  # type: ignore[arg-type]

    def test_without_matplotlib(self, monkeypatch: pytest.MonkeyPatch) -> None:
        from qrt import plot

        monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
        with pytest.raises(ImportError, match=r'pip install "qrt\[report\]"'):
            plot.histogram(Q)


@pytest.fixture(autouse=True, scope="module")
def _no_window() -> object:
    import matplotlib

    before = matplotlib.get_backend()
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")
    matplotlib.use(before)
