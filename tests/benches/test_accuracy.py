"""The networks of `make accuracy`, with drawn weights and data. Hazards: a float program that is another network than
the one that was trained, a gradient that is none, an operation that stays float, a page that drops a section."""

import numpy as np
import pytest

import qrt
from benches.accuracy import cnn, page, programs, vowels
from benches.accuracy.data import Split
from benches.accuracy.measure import Case, Row, check_kernels, compared
from benches.accuracy.programs import inputs, program
from benches.accuracy.train import Schedule, Trainable, logits, trained
from tests.benches.networks import SHAPES, drawn, drawn_split

STEPS = 3


@pytest.fixture(autouse=True)
def _short_series(monkeypatch):
    monkeypatch.setattr(programs, "STEPS", STEPS)


networks = pytest.mark.parametrize("name", SHAPES)


@networks
def test_the_float_program_computes_the_network(name):
    split = drawn_split(name, steps=STEPS)
    constants = drawn(name, split).constants()
    found = Case.of(name, split, constants).logits
    np.testing.assert_allclose(found, logits(name, constants, split.test), rtol=0, atol=2e-5)


@networks
def test_gradients_are_differences_of_the_loss(name):
    """In the direction of the gradient of each parameter. Batch norm takes the batch's moments in both."""
    split = drawn_split(name, 3, STEPS)
    network = drawn(name, split)

    def loss() -> float:
        scores = _logits_of_the_batch(network, split.train)
        scores = scores - scores.max(axis=1, keepdims=True)
        chosen = scores[np.arange(len(scores)), split.train_labels]
        return float(np.mean(np.log(np.exp(scores).sum(axis=1)) - chosen))

    for key, gradient in network.gradients(split.train, split.train_labels).items():
        size = float(np.sqrt(np.square(gradient).sum()))
        if size < 1e-3:
            continue
        before, step = network.parameters[key].copy(), 1e-3 * gradient / size
        network.parameters[key][...] = before + step
        after = loss()
        network.parameters[key][...] = before - step
        found = (after - loss()) / 2e-3
        network.parameters[key][...] = before
        assert abs(found - size) < 0.05 * size + 2e-3, key


def _logits_of_the_batch(network: Trainable, batch: np.ndarray) -> np.ndarray:
    if isinstance(network, vowels.Network):
        return vowels.logits(network.constants(), batch)
    x = batch.astype(np.float64)
    own = network.parameters
    for layer in network.layers:
        x = network._forward(layer, x, own).relu
        x = cnn.pool_windows(x).max(axis=-1) if layer.is_pooled else x
    return x.reshape(len(x), -1) @ own["dense_weights"] + own["dense_bias"]


@pytest.mark.parametrize(("name", "target"), [("digits", "qrt-cpu"), ("mnist", "int4-weights"), ("vowels", "qrt-cpu")])
def test_a_quantized_network_is_kernels_alone(name, target):
    split = drawn_split(name, steps=STEPS)
    case = Case.of(name, split, drawn(name, split).constants())
    passes = ["fold-scales"] if name == "mnist" else []
    made = qrt.quantize_program(case.module, case.calibration, target, "minmax", passes=passes)
    check_kernels(made)
    row = compared(case, target, "minmax", "", made.program.run(inputs(name, split.test))["logits"])
    assert row.snr > 12


def test_floats_within_a_program_are_found():
    text = "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> { %0 = math.tanh %x : tensor<?x4xf32>  "
    text += "%1 = quant.region (%0) { ^bb0(%v: tensor<?x4xf32>):  %t = math.absf %v : tensor<?x4xf32>  "
    text += "quant.return %t : tensor<?x4xf32> } {input_specs = [!quant.none<f32>], output_specs = [!quant.none<f32>], "
    text += 'kernel = "lookup"} : (tensor<?x4xf32>) -> tensor<?x4xf32>  return %1 : tensor<?x4xf32> }'
    made = qrt.quantize_program(qrt.ir.parse(text), {"arg0": np.ones((2, 4), np.float32)}, passes=[])
    with pytest.raises(ValueError, match=r"no kernels|floats"):
        check_kernels(made)


def test_training_learns():
    """Two classes that one channel tells apart."""
    split = drawn_split("vowels", 54, STEPS)
    split.train[:, :, 0] += np.where(split.train_labels % 2, 2, -2)[:, np.newaxis]
    labels = split.train_labels % 2
    easy = Split(split.train, labels, split.train, labels)
    constants = trained("vowels", easy, Schedule(6, 27, 1e-2, 0.1))
    assert (logits("vowels", constants, easy.test).argmax(axis=1) == labels).mean() > 0.9


def test_a_section_replaces_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(page, "PAGE", tmp_path / "accuracy.md")
    for name, text in (("vowels", "one"), ("digits", "two"), ("vowels", "three")):
        page.write({name: f"{text}\n"})
    written = page.PAGE.read_text()
    assert written.startswith(page.HEAD)
    assert written.index("two") < written.index("three")
    assert "one\n" not in written.removeprefix(page.HEAD)


def test_missed_thresholds_are_said():
    split = drawn_split("digits")
    case = Case.of("digits", split, drawn("digits", split).constants())
    good = Row("qrt-cpu", "mse", "auto", 359, 2, 359, 41.0)
    assert page.missed(case, [good]) == []
    for worse in ({"same": 355}, {"lost": 3}, {"snr": 40.99}):
        (said,) = page.missed(case, [Row(**{**vars(good), **worse})])
        assert "digits" in said


def test_the_text_has_every_weight():
    split = drawn_split("mnist")
    constants = drawn("mnist", split).constants()
    text = program("mnist", constants)
    assert all(f"dense_resource<{name}>" in text for name in constants)
