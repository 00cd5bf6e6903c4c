"""``qrt bench``."""

import json
import re
from collections.abc import Iterator

import pytest

from qrt import kernels
from qrt.cli import bench, main
from tests import cases


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
    case = bench.ConvCase((5, 7), 4, 6, (3, 2), strides=(2, 3), padding=((0, 1), (2, 0)), groups=2)
    assert bench._operations(case) == 2 * (2 * 3) * 6 * (3 * 2) * 2


def test_an_unknown_name_lists_the_cases(capsys: pytest.CaptureFixture[str]):
    assert main(["bench", "--case", "nothing"]) == 1
    assert "gemm_512x512x512" in capsys.readouterr().err


def test_the_names_of_the_cases_are_listed(capsys: pytest.CaptureFixture[str]):
    assert main(["bench", "--list"]) == 0
    names = capsys.readouterr().out.splitlines()
    assert names == [workload.name for workload in bench.workloads()]
    assert main(["bench", "--list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cases"] == names


def test_every_listed_name_is_a_shape():
    for workload in bench.workloads():
        found = bench.workload_of(workload.name.replace("_", ":", 1))
        assert (found.name, found.work, found.unit) == (workload.name, workload.work, workload.unit)


@pytest.mark.parametrize(
    "case",
    [case for table in (bench, cases) for case in (*table.GEMMS, *table.CONVS, *table.DEPTHWISE, *table.CASTS)],
    ids=lambda case: case.name,
)
def test_a_name_is_read_as_its_case(case: object):
    read = {bench.GemmCase: bench.gemm_case, bench.ConvCase: bench.conv_case, bench.CastCase: bench.cast_case}
    if isinstance(case, bench.DepthwiseCase):
        parsed = bench.conv_case(case.name, bench.DepthwiseCase)
    else:
        parsed = read[type(case)](case.name)
    assert parsed == case
    assert type(parsed) is type(case)


@pytest.mark.usefixtures("threads")
def test_shapes_are_measured_as_json(capsys: pytest.CaptureFixture[str]):
    shapes = ["gemm:3x5x7", "conv:3x3g2p1111_4x4x4-6", "depthwise:3x3_4x4x4-8", "qcast:3x4_axis1", "dcast:scalar_layer"]
    options = [option for shape in shapes for option in ("--shape", shape)]
    assert main(["bench", *options, "--json", "--seconds=0.001", "--threads=1", "--isa=ref"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["version"], found["isa"], found["threads"]) == (1, "ref", 1)
    assert [case["name"] for case in found["cases"]] == [
        *["gemm_3x5x7", "conv_3x3g2p1111_4x4x4-6", "depthwise_3x3g4_4x4x4-8", "qcast_3x4_axis1", "dcast_scalar_layer"]
    ]
    for case in found["cases"]:
        assert case.keys() == {"name", "seconds", "rate", "unit"}
        assert case["seconds"] > 0
        assert case["rate"] > 0


def test_coverage_as_json(capsys: pytest.CaptureFixture[str]):
    assert main(["bench", "--coverage", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["coverage"] == kernels.coverage()


@pytest.mark.parametrize(
    "shape",
    ["gemm:4x4", "gemm:4x4x4x4x4", "gemm", "conv:4x4x4", "pool:2x2", "qcast:3x4_axis2", "gemm:-1x4x4", "gemm:4x4x4\n"],
)
def test_what_is_no_shape_is_refused(capsys: pytest.CaptureFixture[str], shape: str):
    assert main(["bench", "--shape", shape]) == 1
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "--shape takes gemm:MxKxN" in captured.err


def test_a_shape_beyond_memory_is_an_error(capsys: pytest.CaptureFixture[str]):
    assert main(["bench", "--shape", "gemm:999999999x999999999x9"]) == 1
    assert "gemm_999999999x999999999x9 needs more memory" in capsys.readouterr().err
