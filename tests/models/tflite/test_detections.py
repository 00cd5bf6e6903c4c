"""TFLite_Detection_PostProcess and its options. Hazards: options that are damaged or wrong, tensors that do not go
together, dtypes that LiteRT reads as another."""

from typing import Any

import numpy as np
import pytest
from flatbuffers.flexbuffers import Dumps

import qrt
from qrt.models.profiles import profile
from qrt.models.tflite.flexbuffer import read_map
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor, one_op

OPTIONS: dict[str, Any] = {
    "max_detections": 2, "max_classes_per_detection": 1, "num_classes": 2, "nms_score_threshold": 0.5,
    "nms_iou_threshold": 0.5, **{f"{axis}_scale": 10.0 for axis in "yx"}, **{f"{axis}_scale": 5.0 for axis in "hw"},
}  # fmt: skip
ANCHORS = np.float32([[0.5, 0.5, 1, 1], [0.5, 0.5, 1, 0.9], [3, 3, 1, 2]])


def model(options: Any = None, scores: int = 3, **kinds: Tensor) -> bytes:
    given = {
        "boxes": Tensor((1, 3, 4), "float32"),
        "scores": Tensor((1, 3, scores), "float32"),
        "anchors": Tensor((3, 4), "float32", data=ANCHORS),
        **kinds,
    }
    content = options if isinstance(options, bytes) else bytes(Dumps({**OPTIONS, **(options or {})}))
    results = [Tensor(shape, "float32") for shape in ((1, 2, 4), (1, 2), (1, 2), (1,))]
    return one_op("TFLite_Detection_PostProcess", list(given.values()), results, custom_options=content)


def imported(content: bytes) -> qrt.ir.Module:
    return import_model(read(content), profile("litert"))


def test_boxes_are_decoded_and_those_that_overlap_go() -> None:
    """The second box lies within the first one; the third is moved by its encoding, and its background is no class."""
    encodings = np.zeros((1, 3, 4), np.float32)
    encodings[0, 2] = [10, 0, 5 * np.log(2), 0]
    scores = np.float32([[[1, 0.9, 0], [1, 0.8, 0], [1, 0.1, 0.6]]])
    boxes, classes, found, count = qrt.compile(imported(model()))(encodings, scores)
    np.testing.assert_allclose(boxes[0], [[0, 0, 1, 1], [3, 2, 5, 4]], rtol=1e-6)
    np.testing.assert_array_equal(classes, [[0, 1]])
    np.testing.assert_array_equal(found, np.float32([[0.9, 0.6]]))
    assert count == 2


BYTES = {
    "boxes": Tensor((1, 3, 4), "uint8", 0.1, 128),
    "anchors": Tensor((3, 4), "uint8", 0.1, 0, data=np.zeros((3, 4), np.uint8)),
}
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no options": ({"options": b""}, "TFLite_Detection_PostProcess: its custom options must be a FlexBuffers map"),
    "a list": ({"options": bytes(Dumps([1, 2]))}, "its custom options must be a FlexBuffers map"),
    "no classes": ({"options": {"num_classes": 0}}, "option num_classes must be from 1 to 1048575, got 0"),
    "no number": ({"options": {"max_detections": float("nan")}}, "option max_detections must be from 0 to"),
    "too many": ({"options": {"max_detections": 1 << 30}}, "option max_detections must be from 0 to 1048575, got"),
    "a threshold": ({"options": {"nms_iou_threshold": 0.0}}, r"nms_score_threshold must be finite, and"),
    "two backgrounds": ({"scores": 4}, r"each box must have 2 scores \(num_classes\) or one more, got 4"),
    "anchors of another count": (
        {"anchors": Tensor((2, 4), "float32", data=ANCHORS[:2])}, r"boxes must have the shape \[1, N, 4 or more\]"
    ),
    "bytes with floats": ({"boxes": BYTES["boxes"]}, r"\(boxes of uint8 with anchors of float32\)"),
    "signed bytes": (
        {"boxes": Tensor((1, 3, 4), "int8", 0.1), "anchors": Tensor((3, 4), "int8", 0.1, data=np.zeros((3, 4)))},
        r"TFLite_Detection_PostProcess \(int8\)",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_a_form_that_is_refused(name: str) -> None:
    said, message = REFUSED[name]
    with pytest.raises(qrt.errors.ModelError, match=message):
        imported(model(**said))


def test_counts_of_operands_and_results() -> None:
    boxes, result = Tensor((1, 3, 4), "float32"), [Tensor((1,), "float32")]
    for count, message in ((2, "it must have 3 inputs, got 2"), (3, "it must have 4 outputs, got 1")):
        with pytest.raises(qrt.errors.ModelError, match=f"operator 0 TFLite_Detection_PostProcess: {message}"):
            imported(one_op("TFLite_Detection_PostProcess", [boxes] * count, result, custom_options=b""))


def test_bytes_are_taken() -> None:
    imported(model(**BYTES))


def test_options_of_every_width() -> None:
    values: dict[str, Any] = {"a": 1, "b": -3, "c": 70000, "d": 1 << 40, "e": True, "f": 0.1, "g": 0.5, "h": "text"}
    found = read_map(bytes(Dumps(values)), "here")
    del values["h"]
    assert found == values
    assert type(found["e"]) is bool
    assert read_map(bytes(Dumps({})), "here") == {}


def test_damaged_options_are_an_error_or_other_numbers() -> None:
    """Cut anywhere, and each byte changed: nothing but a ModelError is raised."""
    content, rng = bytes(Dumps(OPTIONS)), np.random.default_rng(0)
    damaged = [content[:end] for end in range(len(content))]
    for at in range(len(content)):
        for value in (0, 255, *rng.integers(0, 256, 6).tolist()):
            damaged.append(content[:at] + bytes([value]) + content[at + 1 :])
    refused = 0
    for each in damaged:
        try:
            read_map(each, "here")
        except qrt.errors.ModelError:
            refused += 1
    assert refused > len(content)


# -- NON_MAX_SUPPRESSION_V4 and _V5 -----------------------------------------------------------------------------------

BOXES = np.float32([[0, 0, 1, 1], [1, 0.9, 0, 0], [3, 3, 2, 2]])
SCORES = np.float32([0.5, 0.75, 0.25])


def selection(name: str = "V4", most: Any = 4, **given: Any) -> bytes:
    """A model with a result of three rows more than there are boxes that do not overlap."""
    numbers = {"overlap": 0.5, "score": 0.0, **({"sigma": 0.0} if name == "V5" else {}), **given}
    constants = [
        Tensor((), "float32") if n is None else Tensor((), "float32", data=n)
        for key, n in numbers.items()
        if key not in ("boxes", "scores")
    ]
    boxes, scores = numbers.get("boxes", Tensor((3, 4), "float32")), numbers.get("scores", Tensor((3,), "float32"))
    count = Tensor((), "int32") if most is None else Tensor((), "int32", data=most)
    rows = (4 if most is None else max(most, 0),)
    results = [Tensor(rows, "int32"), Tensor(rows, "float32"), Tensor((), "int32")]
    if name == "V4":
        del results[1]
    return one_op(f"NON_MAX_SUPPRESSION_{name}", [boxes, scores, count, *constants], results)


def test_selected_boxes() -> None:
    indices, count = qrt.compile(imported(selection()))(BOXES, SCORES)
    assert (np.asarray(indices).tolist(), int(count)) == ([1, 2, 0, 0], 2)
    indices, scores, count = qrt.compile(imported(selection("V5", most=2, score=0.3)))(BOXES, SCORES)
    assert (np.asarray(indices).tolist(), np.asarray(scores).tolist(), int(count)) == ([1, 0], [0.75, 0], 1)


def test_scores_that_overlaps_reduce() -> None:
    """The first box overlaps the second one by 0.9: its score is multiplied by exp(-0.81)."""
    indices, scores, count = qrt.compile(imported(selection("V5", overlap=1.0, sigma=0.5)))(BOXES, SCORES)
    assert (np.asarray(indices).tolist(), int(count)) == ([1, 2, 0, 0], 3)
    np.testing.assert_allclose(scores, [0.75, 0.25, 0.5 * np.exp(-0.81), 0], rtol=1e-6)


SELECTION_REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a number that the run gives": ({"most": None}, "NON_MAX_SUPPRESSION_V4 (max_output_size known only at run time"),
    "a threshold that the run gives": ({"score": None}, "(score_threshold known only at run time)"),
    "a negative number": ({"most": -1}, "max_output_size (input 2) must be from 0 to 1048575, got -1"),
    "an overlap above 1": ({"overlap": 1.5}, "iou_threshold (input 3) must be from 0 to 1, got 1.5"),
    "a score that is none": (
        {"score": np.nan},
        "score_threshold (input 4) must be one finite float32 number, got [nan]",
    ),
    "a negative sigma": ({"name": "V5", "sigma": -1.0}, "soft_nms_sigma (input 5) must not be negative, got -1.0"),
    "boxes of bytes": ({"boxes": Tensor((3, 4), "int8", 0.5)}, "(boxes of int8 with scores of float32)"),
    "more scores": ({"scores": Tensor((4,), "float32")}, "shape [N, 4] and scores the shape [N], got [3, 4] and [4]"),
}


@pytest.mark.parametrize("case", SELECTION_REFUSED)
def test_a_selection_is_refused(case: str) -> None:
    given, message = SELECTION_REFUSED[case]
    with pytest.raises(qrt.errors.ModelError) as raised:
        imported(selection(**given))
    assert message in str(raised.value)
