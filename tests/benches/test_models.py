"""The section about whole models in the page of times. Hazards: a time of a model whose outputs are wrong, a ratio the
wrong way round, a model that is slower and has no account."""

from importlib.util import find_spec

import numpy as np
import pytest

from benches.models.compared import problem
from benches.models.page import Figures, part
from benches.models.worker import write
from qrt.quantization.report.steps import PlanReport, StepReport

pytestmark = pytest.mark.skipif(
    find_spec("ai_edge_litert") is None, reason="the page names its version: make test-oracle installs it"
)
TIMES = {"qrt_run": 2e-6, "peer_run": 4e-6, "qrt_bare": 1e-6, "peer_bare": 3e-6}
LOAD = {
    f"{runtime}_{what}": value
    for runtime, values in {"qrt": (0.01, 0.002, 3 << 20, 4 << 20), "peer": (0.02, 0.001, 2 << 20, 5 << 20)}.items()
    for what, value in zip(("seconds", "again", "grown", "peak"), values, strict=True)
} | {"saved_seconds": 0.004, "saved_alone": 0.003}


def step(share, op="qrt.add"):
    return StepReport(0, op, "fixed", (), "kernel", "add ref", "m: 0", "", share * 1e-5, share, 3)


def figures():
    fast, slow, wrong = (
        Figures(name, 2048, "litert", dict(LOAD), {1: dict(TIMES)}) for name in ("fast", "slow", "wrong")
    )
    slow.times[1]["qrt_run"] = 5e-6
    slow.steps = PlanReport("main", "ref", 1, 0, 0, 0, (step(0.97, "qrt.conv2d"), step(0.02), step(0.01)))
    wrong.times[1] = {"error": "3 of 4 elements of output 0 differ"}
    return [fast, slow, wrong]


def lines(found, overheads=(), left_out=()):
    return "\n".join(part(found, dict(overheads), list(left_out)))


def test_each_model_has_its_line():
    found = figures()
    assert [each.is_slower(1) for each in found] == [False, True, False]
    text = lines(found, {1: 3e-7, 10: 7e-7}, ["late"])
    assert text.startswith("Measured on ")
    assert "| fast | 2.00 | 4.00 | 0.50 | 1.00 | 3.00 | 0.33 |" in text
    assert "| slow | 5.00 | 4.00 | 1.25 |" in text
    assert "| wrong | 2." not in text
    assert "- late: no time was left" in text
    assert "- wrong: 3 of 4 elements of output 0 differ" in text
    assert "| fast | 2 | 10.0 | 20.0 | 2.0 | 1.0 | 4.0 | 3.0 | 3,072 | 2,048 | 1.50 | 4,096 | 5,120 |" in text
    assert "0.30 us for 1, 0.70 us for 10 steps" in text


def test_what_is_slower_has_an_account():
    text = lines(figures()).partition("step by step")[2]
    assert "| 0 | qrt.conv2d fixed | kernel add ref | 9.70 | 97% |" in text
    assert "| | 2 others | | 0.30 | 3% |" in text
    assert "fast" not in text


def test_each_format_has_its_table():
    """The other runtime of ONNX models is named, and their lines stand in tables of their own."""
    pytest.importorskip("onnxruntime")
    found = figures()
    found[0].peer = "ort"
    text = lines(found)
    heads = [line for line in text.splitlines() if line.startswith("| model |")]
    assert ["ONNX Runtime" in head for head in heads] == [True, False, True, False]
    assert "onnxruntime 1" in text
    assert text.index("| fast |") < text.index("| slow |")


@pytest.mark.parametrize(
    ("other", "said"), [([0, 2, 1], ""), ([2, 0, 1], "the greatest element of output 0 is 1, not 0")]
)
def test_onnx_outputs_have_the_same_greatest_element(other, said, tmp_path):
    paths = tmp_path / "a.npz", tmp_path / "b.npz"
    for path, array in zip(paths, ([0.5, 3, 1], other), strict=True):
        write(str(path), [np.float32(array)])
    assert problem(*paths, ".onnx") == said


@pytest.mark.parametrize(
    ("ours", "theirs", "said"),
    [
        (np.int8([1, 2]), np.int8([1, 2]), ""),
        (np.int8([1, 2]), np.int8([1, 3]), "1 of 2 elements of output 0 differ"),
        (np.int8([1, 1]), np.int8([1, 2, 3]), "output 0 is int8[2], the other is int8[3]"),
        (np.float32([1, 1e-9]), np.float32([1, 2e-9]), ""),
        (np.float32([1, 1]), np.float32([1, 1.5]), "output 0 differs by up to 0.5"),
        (np.float32([np.nan]), np.float32([1]), "output 0 differs by up to nan"),
    ],
)
def test_outputs_are_compared(ours, theirs, said, tmp_path):
    paths = tmp_path / "a.npz", tmp_path / "b.npz"
    for path, array in zip(paths, (ours, theirs), strict=True):
        write(str(path), [array])
    assert problem(*paths) == said
