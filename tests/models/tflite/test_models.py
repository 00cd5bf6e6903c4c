"""Whole models from files, in qrt and in LiteRT, tensor by tensor. Hazards: a form that no generated model has; a step
that a fusion changes; a state that goes another way after many calls, or that a reset leaves behind."""

import os
from importlib.util import find_spec

import numpy as np
import pytest

from qrt.models.diff.compare import ModelComparison
from qrt.models.diff.drawn_inputs import KINDS, drawn
from tests.models.tflite.oracle import MODELS, PROFILES, ROWS, model_row
from tests.models.tflite.photographs import photographs

pytestmark = [
    pytest.mark.skipif(find_spec("ai_edge_litert") is None, reason="ai-edge-litert is not installed"),
    pytest.mark.skipif(not MODELS.exists(), reason="the models are not here: QRT_MODELS names their folder"),
    pytest.mark.skipif(not os.environ.get("QRT_REQUIRE_ORACLE"), reason="it takes minutes: make test-oracle runs it"),
]
STATEFUL = {"alexa.tflite"}
FILES = sorted((MODELS / "tflite").glob("*.tflite"))
WHOLE = {"kws_ref_model_float32.tflite", "pretrainedResnet.tflite"}
"""Float models: what one op may differ adds up to more at the end of a whole run, which is not bounded."""


def runs(comparison, name):
    """The inputs of each run, and whether the state is made new before it."""
    inputs, rng = comparison.file.inputs, np.random.default_rng(0)
    kinds = [*KINDS, *KINDS[:2]] if name not in STATEFUL else [*(KINDS[i % 2] for i in range(46)), *KINDS] * 2
    for number, kind in enumerate(kinds):
        yield [drawn(tensor, kind, rng) for tensor in inputs], name in STATEFUL and number == len(kinds) // 2
    if name in STATEFUL:
        for number, bands in enumerate(spectra(rng, inputs[0].shape)):
            yield [bands], number % 40 == 0
    for image in photographs(inputs[0], MODELS / "images"):
        yield [image], False


def spectra(rng, shape, tones=5, steps=40):
    """Sounds for a wake word: bands that stay, with noise. Random bands alone leave the answer at 0."""
    for _ in range(tones):
        bands = rng.normal(size=shape[-1]) * rng.uniform(5, 60) + rng.uniform(-128, 60)
        for _ in range(steps):
            yield np.clip(bands + rng.normal(size=shape) * 10, -128, 127).astype(np.int8)


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_tensor_is_litert_s(path, profile, litert):
    comparison = ModelComparison(path, litert, profile)
    for inputs, resets in runs(comparison, path.name):
        if resets:
            comparison.reset()
        comparison.add(inputs)
    found = comparison.result()
    comparison.close()
    ROWS.append(model_row(found, profile))
    assert found.compared, "nothing was compared"
    assert not found.differ if path.name not in WHOLE else found.first is None, str(found.first)
