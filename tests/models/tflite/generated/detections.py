"""TFLite_Detection_PostProcess. Hazards: equal scores, which keep their order; a background that is no class; boxes
that overlap by about as much as they may; fewer detections than rows, which classes one by one fill with 0."""

from functools import partial

import numpy as np
from flatbuffers.flexbuffers import Dumps

from tests.models.beside import Case
from tests.models.tflite.writing import Tensor, one_op

_RUNS = 6


def _inputs(rng, count, columns, classes, dtype):
    """Boxes near their anchors, and scores of which many are equal."""
    if dtype == "uint8":
        shapes = (1, count, columns), (1, count, classes)
        return [rng.integers(low, high, shape).astype(dtype) for shape, low, high in
                zip(shapes, (100, 0), (157, 256), strict=True)]  # fmt: skip
    scores = (
        np.round(rng.random((1, count, classes)) * 64) / 64 if rng.random() < 0.5 else rng.random((1, count, classes))
    )
    return [(rng.normal(size=(1, count, columns)) * 2).astype(dtype), scores.astype(dtype)]


def postprocess(rng, *, dtype, is_regular):
    """So many boxes, and so few detections, that all rows are filled where LiteRT does not fill them itself."""
    count, classes = int(rng.integers(150, 400)), int(rng.integers(1, 9))
    columns = 4 if rng.random() < 0.7 else 6
    options = {
        "max_detections": int(rng.integers(1, 60)) if is_regular else int(rng.integers(1, 8)),
        "max_classes_per_detection": 1 if is_regular else int(rng.integers(1, classes + 1)),
        "num_classes": classes,
        "nms_score_threshold": float(rng.choice([0.0, 0.25, 0.875])) if is_regular else float(rng.choice([0.0, 1e-8])),
        "nms_iou_threshold": float(rng.choice([0.1, 0.5, 0.6, 1.0])),
        **{f"{axis}_scale": float(rng.choice([5.0, 10.0])) for axis in "yxhw"},
    }
    if is_regular:
        options |= {"use_regular_nms": True, "detections_per_class": int(rng.integers(1, 30))}
    wide = rng.random((count, 4)) * [1, 1, 0.1, 0.1] + [0, 0, 0.05, 0.05]
    kinds = [{}] * 3 if dtype == "float32" else [
        {"scales": 0.07, "zero_points": 128}, {"scales": 1 / 256}, {"scales": 1 / 220, "zero_points": 3}
    ]  # fmt: skip
    anchors = wide if dtype == "float32" else np.clip(np.rint(wide * 220 + 3), 0, 255)
    background = int(rng.integers(2))
    boxes = Tensor((1, count, columns), dtype, **kinds[0])
    scores = Tensor((1, count, classes + background), dtype, **kinds[1])
    rows = options["max_detections"] * options["max_classes_per_detection"]
    results = [Tensor(shape, "float32") for shape in ((1, rows, 4), (1, rows), (1, rows), (1,))]
    inputs = [boxes, scores, Tensor((count, 4), dtype, data=anchors.astype(dtype), **kinds[2])]
    content = one_op("TFLite_Detection_PostProcess", inputs, results, custom_options=bytes(Dumps(options)))
    return Case(content, [_inputs(rng, count, columns, classes + background, dtype) for _ in range(_RUNS)])


def selection(rng, *, name, is_soft):
    """Boxes of which many overlap, in any order of their corners, some without area, and scores of which many are
    equal."""
    count, most = int(rng.integers(1, 200)), int(rng.integers(1, 150))
    sigma = float(rng.choice([0.05, 0.5, 2.0])) if is_soft else 0.0
    numbers = [rng.choice([0.0, 0.1, 0.5, 0.9, 1.0]), rng.choice([-1.0, 0.0, 0.25, 0.75])]
    numbers += [sigma] if name.endswith("V5") else []
    boxes, scores = Tensor((count, 4), "float32"), Tensor((count,), "float32")
    inputs = [boxes, scores, Tensor((), "int32", data=most), *(Tensor((), "float32", data=n) for n in numbers)]
    results = [Tensor((most,), "int32"), Tensor((most,), "float32"), Tensor((), "int32")]
    if name.endswith("V4"):
        del results[1]
    runs = []
    for _ in range(_RUNS):
        corners = rng.random((count, 2, 2)) * rng.choice([0.3, 1.0, 3.0])
        given = np.concatenate([corners[:, 0], corners[:, 0] + (corners[:, 1] - 0.1)], axis=1)
        given = np.round(given * 8) / 8 if rng.random() < 0.3 else given
        values = np.round(rng.random(count) * 32) / 32 if rng.random() < 0.5 else rng.random(count)
        runs.append([given.astype(np.float32), values.astype(np.float32)])
    return Case(one_op(name, inputs, results), runs, ulp=0)


CASES = {
    "NON_MAX_SUPPRESSION_V4": partial(selection, name="NON_MAX_SUPPRESSION_V4", is_soft=False),
    "NON_MAX_SUPPRESSION_V5": partial(selection, name="NON_MAX_SUPPRESSION_V5", is_soft=False),
    "NON_MAX_SUPPRESSION_V5, soft": partial(selection, name="NON_MAX_SUPPRESSION_V5", is_soft=True),
}
CASES |= {
    f"TFLite_Detection_PostProcess {dtype}, {kind}": partial(postprocess, dtype=dtype, is_regular=kind == "each class")
    for dtype in ("float32", "uint8")
    for kind in ("all classes", "each class")
}
