"""``qrt bench``."""

import re
from collections.abc import Iterator

import pytest

from qrt import cases, kernels
from qrt.cli import bench, main


@pytest.fixture
def threads() -> Iterator[None]:
    before = kernels.get_num_threads()
    yield
    kernels.set_num_threads(before)


@pytest.mark.usefixtures("threads")
def test_a_line_per_case(capsys: pytest.CaptureFixture[str]):
    assert main(["bench", "--case", "*_4x4x4", "--seconds", "0.001", "--isa", "ref", "--threads", "1"]) == 0
    title, line = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"qrt \S+, ref, threads: 1", title)
    assert re.fullmatch(r"gemm_4x4x4 +\d+\.\d\d us +\d+\.\d\d GOP/s", line)


@pytest.mark.parametrize("kind", ["gemm", "conv", "depthwise", "qcast", "dcast"])
def test_every_kind_runs(kind: str):
    smallest = min((w for w in bench.workloads() if w.name.startswith(f"{kind}_")), key=lambda w: w.work)
    assert bench.measure(smallest.prepare(), 0.001) > 0


def test_operations_count_the_result():
    case = cases.ConvCase((5, 7), 4, 6, (3, 2), strides=(2, 3), padding=((0, 1), (2, 0)), groups=2)
    assert bench._operations(case) == 2 * (2 * 3) * 6 * (3 * 2) * 2


def test_an_unknown_name_lists_the_cases(capsys: pytest.CaptureFixture[str]):
    assert main(["bench", "--case", "nothing"]) == 1
    assert "gemm_512x512x512" in capsys.readouterr().err
