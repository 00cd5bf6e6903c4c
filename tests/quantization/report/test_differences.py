"""The table of tensors. Hazards: a first difference that is not the first, a tensor that was not compared among those
that were, a name that moves the terminal's cursor."""

from qrt.quantization.report.differences import Differences, TensorDifference, differences_text

SAME = TensorDifference("input/a", "CONV_2D 0", "qrt.conv2d float32", 1200, 0, 0)
LEFT = TensorDifference("b", "RESHAPE 1", "qrt.reshape", 12, 0, 0, skipped="one value over all inputs")
FIRST = TensorDifference("c\x1b[2J", "ADD 2", "qrt.add fixed", 12, 3, 2, beyond=1)
SECOND = TensorDifference("d", "EXP 3", "math.exp", 12, 1, 9, is_float=True)
OUTPUT = TensorDifference("y", "", "", 12, 4, 7)
FOUND = Differences("m.tflite", "LiteRT (litert)", 3, (SAME, LEFT, FIRST, SECOND), (OUTPUT,), 5)

TEXT = r"""m.tflite beside LiteRT (litert), 3 runs

elements  differ  by over 1  largest  operator   op                  tensor
   1,200       0          0        0  CONV_2D 0  qrt.conv2d float32  input/a
       -       -          -        -  RESHAPE 1  qrt.reshape         b: one value over all inputs
      12       3          1        2  ADD 2      qrt.add fixed       c\x1b[2J
      12       1          -    9 ULP  EXP 3      math.exp            d

3 tensors compared, 1,224 elements, 8 differ
5 tensors more inside of operators that run as one
output y of whole runs: 4 of 12 elements differ, by 7 at most
the first op that differs is ADD 2, which is qrt.add fixed: 3 of 12 elements differ, by 2 at most
"""


def test_the_table():
    assert differences_text(FOUND) == TEXT


def test_without_tensors_that_are_the_same():
    shown = differences_text(FOUND, every=False).splitlines()
    assert [line.split() for line in shown] == [line.split() for line in TEXT.splitlines() if "CONV_2D" not in line]


def test_nothing_differs():
    found = Differences("m.tflite", "LiteRT (litert)", 1, (SAME,), ())
    assert found.first is None
    assert differences_text(found, every=False) == (
        "m.tflite beside LiteRT (litert), 1 run\n\n1 tensor compared, 1,200 elements, 0 differ\n"
    )


def test_a_long_name_keeps_its_end():
    long = TensorDifference("a/" * 100 + "end", "NEG 0", "", 1, 1, 1)
    text = differences_text(Differences("m", "e", 1, (long,), ()))
    assert "  -   ..." in text
    assert "/end\n" in text
    assert max(map(len, text.splitlines())) < 110


def test_outputs_of_whole_runs_follow_from_elements_within_their_bounds() -> None:
    rounded = TensorDifference("a", "QDQ Conv 1", "qrt.conv2d float32", 12, 0, 1, within=2)
    found = Differences("m.onnx", "ONNX Runtime (ort)", 1, (rounded,), (OUTPUT,))
    assert found.differ == 0
    assert "2 elements more differ as far as their operators allow, and whole runs by these\n" in differences_text(
        found
    )
    assert Differences("m.onnx", "ONNX Runtime (ort)", 1, (SAME,), (OUTPUT,)).differ == OUTPUT.differ
