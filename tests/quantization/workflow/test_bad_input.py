"""Data that do not fit, or that hold nothing to choose a range from. Hazards: a message that names no input, batch or
value, a scale that is 0 or infinite, a file of which a part is taken for the whole."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.cli import main
from qrt.errors import ModelError, VerifyError
from qrt.types import UniformType
from tests.quantization.workflow.programs import NETWORK, rows

MODULE = ir.parse(NETWORK, "net.mlir")
WRONG: list[tuple[Any, str]] = [
    ({"images": []}, "'data' must have at least one batch for main, got none"),
    ([], "'data' must have at least one batch for main, got none"),
    ({"images": rows(0)}, "the data: input 'images' must have elements, got shape [0, 16]"),
    ({"images": [rows(2), rows(0)]}, "batch 2: input 'images' must have elements, got shape [0, 16]"),
    ({}, "input 'images' (tensor<?x16xf32>) is missing"),
    ({"image": rows(2)}, "no input is named 'image'; the inputs are images"),
    ([{"images": rows(2)}, {"labels": rows(2)}], "batch 2: no input is named 'labels'; the inputs are images"),
    ({"images": rows(2)[:, :8]}, "batch 1: input 'images' must be tensor<?x16xf32>, got shape [2, 8]"),
    ({"images": [rows(2), rows(2)[0]]}, "batch 2: input 'images' must be tensor<?x16xf32>, got shape [16]"),
    ({"images": rows(2).astype("f8")}, "batch 1: input 'images' must be of dtype float32, because its type is"),
    ({"images": [rows(2), np.int32(rows(2))]}, "batch 2: input 'images' must be of dtype float32, because its type is"),
    (
        {"images": np.where(rows(70) > 2.5, np.float32(-np.inf), rows(70))},
        "batch 1: input 'images' must be finite, got -inf at [13, 11]: fix the data",
    ),
]


@pytest.mark.parametrize(("data", "message"), WRONG)
def test_data_that_do_not_fit_are_named(data: Any, message: str) -> None:
    with pytest.raises(ModelError, match=re.escape(message)):
        qrt.quantize_program(MODULE, data)


def test_batches_of_changing_sizes_are_one_array() -> None:
    data = rows(40)
    parts = np.split(data, [1, 4, 5, 33])
    one, other = (qrt.quantize_program(MODULE, {"images": given}, passes=()).module for given in (parts, data))
    assert str(one) == str(other)


def types_of(made: Any) -> list[UniformType]:
    results = [operation.result.type for operation in made.module.operation.walk() if len(operation.results) == 1]
    return [type.element for type in results if isinstance(getattr(type, "element", None), UniformType)]


DOUBLE = """func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}"""


@pytest.mark.parametrize(
    ("value", "scale", "zero"),
    [
        (3.0, 3 / 255, -128),
        (-2.0, 2 / 255, 127),
        (0.0, 1.0, 0),
        (-0.0, 1.0, 0),
        (1e-44, 2.0**-149, -128),
        (1e38, 1e38 / 255, -128),
    ],
)
def test_a_constant_tensor_has_the_range_from_it_to_0(value: float, scale: float, zero: int) -> None:
    """A tensor of zeros has the scale 1. A range that is too small for 255 steps has the least scale."""
    x = np.full(4, value, np.float32)
    made = qrt.quantize_program(ir.parse(DOUBLE), {"arg0": x})
    found = types_of(made)[0]
    assert found.scale >= np.float32(scale) * (1 - 2e-7)
    assert found.scale == pytest.approx(scale, rel=1e-6)
    assert (found.zero_points[0] if value else 0) == zero
    np.testing.assert_allclose(made.program(x), 2 * x, rtol=1e-2)


def test_a_channel_of_zeros_has_the_scale_1() -> None:
    text = re.sub(r"dense<\[\[[^>]*> : tensor<16x8", f"dense<{[[0.0, *[0.5] * 7]] * 16}> : tensor<16x8", NETWORK)
    made = qrt.quantize_program(ir.parse(text), {"images": rows(50)}, "tflite", passes=())
    scales = next(type.scales for type in types_of(made) if not type.is_per_layer)
    assert scales[0] == 1.0
    assert len(set(scales[1:])) == 1
    zeros = re.sub(r"dense<\[\[[^>]*> : tensor<16x8", "dense<0.0> : tensor<16x8", NETWORK)
    made = qrt.quantize_program(ir.parse(zeros), {"images": rows(50)}, passes=())
    assert not made.program(rows(3)).any()


def test_a_value_that_is_not_finite_is_named_with_its_op_and_batch() -> None:
    """The data are finite, and their sum is not."""
    data = [np.ones(3, np.float32), np.float32([1, 3e38, 1])]
    message = r"f.mlir:2:\d+: error: batch 2: the value 'f/add.0' of 'arith.addf' must be finite, got inf at \[1\]: fix"
    with pytest.raises(ModelError, match=message):
        qrt.quantize_program(ir.parse(DOUBLE, "f.mlir"), {"arg0": data})
    made = qrt.quantize_program(ir.parse(DOUBLE), {"arg0": data}, skip_nonfinite=True)
    assert made.calibration.skipped == {"f/add.0": 1}


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str, str]:
    (tmp_path / "f.mlir").write_text(NETWORK)
    np.savez(tmp_path / "x.npz", images=rows(80))
    return str(tmp_path / "f.mlir"), str(tmp_path / "x.npz"), str(tmp_path / "q.mlir")


def test_a_data_file_that_ends_early_is_an_error(files: tuple[str, str, str], capsys: Any) -> None:
    program, data, output = files
    whole = Path(data).read_bytes()
    Path(data).write_bytes(whole[: len(whole) // 2])
    assert main(["quantize", program, "--data", data, "-o", output]) == 1
    assert data in capsys.readouterr().err
    assert not Path(output).exists()


def test_values_that_are_not_finite_are_refused_or_counted(files: tuple[str, str, str], capsys: Any) -> None:
    program, data, output = files
    bad = rows(80)
    bad[70, 3] = np.nan
    np.savez(data, images=bad)
    assert main(["quantize", program, "--data", data, "-o", output]) == 1
    assert "batch 2: input 'images' must be finite, got nan at [6, 3]: fix the data" in capsys.readouterr().err
    assert main(["quantize", program, "--data", data, "-o", output, "--skip-nonfinite"]) == 0
    assert "main/images: NaNs and infinities left out: 1" in capsys.readouterr().err


def test_records_of_another_program_are_refused(tmp_path: Path) -> None:
    """They would decide nothing, and every port would be one that nobody decides."""
    records = tmp_path / "r.json"
    records.write_text('{"version": 1, "records": {"other/x": {"count": 1, "min": 0, "max": 1}}}')
    module = ir.run_passes(ir.parse(NETWORK), "fuse-kernels,attach-stats-ref")
    with pytest.raises(ModelError, match=r"r\.json: the records must be of this program, but the keys of its"):
        ir.run_passes(module, f"propagate-quant{{target=qrt-cpu records={records}}}")


def test_rows_whose_outputs_are_not_finite_are_not_measured() -> None:
    """With --skip-nonfinite a program may divide by 0 on some rows: errors are measured on the others."""
    text = NETWORK.replace("return %2", "%3 = arith.divf %2, %2 : tensor<?x4xf32>\n  return %3")
    data = rows(9)
    data[7] = 0
    with pytest.raises(ModelError, match=r"of 'arith.divf' must be finite, got nan"):
        qrt.quantize_program(ir.parse(text), {"images": data})
    made = qrt.quantize_program(ir.parse(text), {"images": data}, skip_nonfinite=True)
    assert made.report.rows == 8


def test_a_file_that_is_cut_anywhere_is_refused(files: tuple[str, str, str], capsys: Any) -> None:
    program, data, output = files
    whole = Path(data).read_bytes()
    for length in (0, 3, 100, len(whole) // 2, len(whole) - 1):
        Path(data).write_bytes(whole[:length])
        assert main(["quantize", program, "--data", data, "-o", output]) == 1
        assert f"error: {data}: not an .npz archive of arrays: " in capsys.readouterr().err
        assert not Path(output).exists()


BIASED = """func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x2xf32>
  %w = arith.constant dense<[[1.0, 2.0], [0.5, -1.0]]> : tensor<2x2xf32>
  %b = arith.constant dense<[0.0, -2.0]> : tensor<2xf32>
  %e = tensor.empty(%n) : tensor<?x2xf32>
  %f = linalg.broadcast ins(%b : tensor<2xf32>) outs(%e : tensor<?x2xf32>) dimensions = [0]
  %0 = linalg.matmul ins(%x, %w : tensor<?x2xf32>, tensor<2x2xf32>) outs(%f : tensor<?x2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}"""


def test_data_too_small_for_a_bias_are_refused_before_a_program_is_made() -> None:
    """Kernels keep a bias as an integer of 62 bits at the scale of the sums, and a multiplier below 2^-32 makes all of
    it 0. Hazard: a program that does not run, or one without its bias."""
    module, data = ir.parse(BIASED, "b.mlir"), np.float32([[-1, 0.5], [0.25, 1]])
    for power in (0, -18, -26, -28, -40, -50, -133):
        small = data * np.float32(2.0**power)
        if power >= -26:
            made = qrt.quantize_program(module, {"arg0": small}, passes=())
            assert np.abs(made.program(small) - qrt.compile(module)(small)).max() < 0.05
            continue
        with pytest.raises(VerifyError, match=r"b.mlir:8:8: error: .* \(matmul\): operand 2 is up to 2\^") as caught:
            qrt.quantize_program(module, {"arg0": small}, passes=())
        assert "give data of the size that the program runs on, or a wider !quant.calibrated" in str(caught.value)
    tiny = data * np.float32(1e-40)
    assert np.abs(qrt.quantize_program(module, {"arg0": tiny}, "tflite").program(tiny) - [[0, -2]]).max() < 0.05


FLOATS = """func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.remf %x, %y : tensor<4xf32>
  %1 = math.powf %0, %y : tensor<4xf32>
  return %1 : tensor<4xf32>
}"""


def test_a_program_of_which_nothing_can_be_quantized_says_why() -> None:
    data = {"arg0": np.ones(4, np.float32), "arg1": np.ones(4, np.float32)}
    module = ir.parse(FLOATS, "f.mlir")
    with pytest.raises(ModelError) as caught:
        qrt.quantize_program(module, data)
    first, second = "'arith.remf' op stays float: ", "; 'math.powf' op stays float: "
    assert str(caught.value).startswith(f"f.mlir:2:8: error: nothing of f can be quantized: {first}")
    assert second in str(caught.value)
    with pytest.raises(VerifyError) as full:
        qrt.quantize_program(module, data, require_full=True)
    assert [each.message.partition(" stays")[0] for each in full.value.diagnostics] == [
        "'arith.remf' op",
        "'math.powf' op",
    ]
    with pytest.raises(
        ModelError, match="nothing of g can be quantized: the target has no kernel for its operations on floats"
    ):
        qrt.quantize_program(ir.parse("func.func @g(%x: tensor<4xf32>) { return }"), {"arg0": data["arg0"]})


def test_a_quantized_program_is_not_quantized_again() -> None:
    made = qrt.quantize_program(ir.parse(DOUBLE), {"arg0": np.float32([1, 2])})
    with pytest.raises(ModelError, match=r"f is quantized already: it contains '.*'; give the float program"):
        qrt.quantize_program(made.module, {"arg0": np.float32([1, 2])})


def test_data_of_nan_alone_leave_no_range() -> None:
    data = np.full((3, 16), np.nan, np.float32)
    with pytest.raises(
        ModelError, match="all 48 values of 'main/images' are NaN or infinite, so that no range can be chosen"
    ):
        qrt.quantize_program(MODULE, {"images": data}, skip_nonfinite=True)


def test_a_nan_of_the_weights_is_not_of_the_data() -> None:
    module = ir.parse(BIASED.replace("-1.0", "0x7FC00000"), "b.mlir")
    message = r"must be finite, got nan at \[0, 1\]: fix the constant at b.mlir:4:8, which is nan at \[1, 1\], or leave"
    with pytest.raises(ModelError, match=message):
        qrt.quantize_program(module, {"arg0": np.ones((1, 2), np.float32)})
