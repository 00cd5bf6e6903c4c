"""Further forms of one operator, for `test_operators.py`: older forms, spectra, samples of images."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tests.models.onnx.forms import Form, I, real, whole
from tests.models.onnx.pipelines import TARGETS, TREE


def forms() -> Iterator[Form]:
    """Every form."""
    yield from _older()
    yield from _spectra()
    yield from _samples()
    yield from _machine_learning()
    yield from _scattered()
    yield from _selected()


def _older() -> Iterator[Form]:
    """Operators before the opset that defines them by others."""
    x = whole(3, 4, 5)
    for type in ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"):
        operand = np.abs(x) + 1 if type == "ReduceLogSum" else x
        for opset in (7, 11, 13, 17):
            yield Form(type, (operand,), (), {"axes": [1, 2], "keepdims": 0}, opset=opset, ulp=4)
            yield Form(type, (operand,), opset=opset, ulp=4)
    for type in ("ReduceL1", "ReduceSumSquare"):
        yield Form(type, (whole(3, 4, dtype="int32"),), (), {"axes": [-1]}, opset=13)
    for axis in (0, 1, 2):
        yield Form("LogSoftmax", (real(3, 4, 5),), (), {"axis": axis}, opset=11, ulp=8)
    yield Form("LogSoftmax", (real(3, 4, 5),), opset=7, ulp=8)


def _spectra() -> Iterator[Form]:
    """Signals of odd, even and prime lengths; padded and cropped; along each axis, in both directions."""
    for opset, ends in ((17, ()), (20, (np.int64(-2),))):
        for shape in ((2, 16, 1), (2, 7, 2), (1, 13, 3, 1)):
            for more in ({}, {"inverse": 1}):
                yield Form(
                    "DFT", (real(*shape),), (), {"axis": 1, **more} if opset < 20 else more, opset=opset, bound=64
                )
        for length in (4, 20):
            yield Form("DFT", (real(2, 16, 1), np.int64(length), *ends), (1, 2)[: 1 + len(ends)], opset=opset, bound=64)
        yield Form("DFT", (real(2, 16, 1),), (), {"onesided": 1}, opset=opset, bound=64)
        yield Form("DFT", (real(2, 9, 1),), (), {"onesided": 1}, opset=opset, bound=64)
    yield Form("DFT", (real(3, 8, 5, 2), None, np.int64(1)), (2,), opset=20, bound=64)
    yield Form("DFT", (real(3, 8, 5, 2), None, np.int64(-4)), (2,), {"inverse": 1}, opset=20, bound=64)
    window = np.hanning(16).astype(np.float32)
    yield Form("STFT", (real(2, 64, 1), np.int64(8), window, np.int64(16)), (1, 2, 3), bound=64)
    yield Form("STFT", (real(2, 64, 1), np.int64(5), window), (1,), bound=64)
    yield Form("STFT", (real(1, 40, 1), np.int64(6), None, np.int64(10)), (1, 3), {"onesided": 0}, bound=64)
    yield Form("STFT", (real(1, 40, 2), np.int64(6), None, np.int64(10)), (1, 3), {"onesided": 0}, bound=64)
    numbers = np.int64(8), np.int64(16), np.int64(8192), np.float32(0), np.float32(8192 / 2)
    yield Form("MelWeightMatrix", numbers, (0, 1, 2, 3, 4), ulp=1)
    numbers = np.int64(40), np.int64(512), np.int64(16000), np.float32(20), np.float32(8000)
    yield Form("MelWeightMatrix", numbers, (0, 1, 2, 3, 4), ulp=1)


def _samples() -> Iterator[Form]:
    """Positions inside, at the ends, and far outside; every way to go on outside; bins without elements."""
    image, grid = real(2, 3, 5, 4), real(2, 4, 6, 2, seed=1)
    grid[0, 0, :5] = [[-1, -1], [1, 1], [0, 0], [-1, 1], [-9, 7.5]]
    volume = real(1, 2, 3, 4, 5), real(1, 2, 3, 2, 3, seed=2)
    for padding in ("zeros", "border", "reflection"):
        for align in (0, 1):
            more = {"padding_mode": padding, "align_corners": align}
            for mode in ("bilinear", "nearest"):
                yield Form("GridSample", (image, grid), (), {**more, "mode": mode}, opset=16, bound=32)
        yield Form("GridSample", volume, (), {"padding_mode": padding, "mode": "nearest"}, opset=20)
        yield Form("GridSample", (image, grid), (), {"padding_mode": padding, "mode": "bicubic"}, opset=16, bound=32)
    more = {"mode": "linear", "padding_mode": "reflection", "align_corners": 1}
    yield Form("GridSample", volume, (), more, opset=20, bound=32)
    yield Form("GridSample", (image, grid), (), {"mode": "cubic", "align_corners": 1}, opset=20, bound=32)
    yield Form("GridSample", (real(1, 2, 1, 4), real(1, 3, 3, 2)), (), {"padding_mode": "reflection"}, bound=32)
    regions = np.float32([[0, 0, 7, 5], [1.5, 2, 3.25, 9], [-3, -2, 2, 2], [5, 4, 4, 3], [6, 5, 30, 40]])
    numbers = I([0, 1, 1, 0, 1])
    for mode in ("avg", "max"):
        for opset, transformation in ((10, None), (16, "half_pixel"), (16, "output_half_pixel")):
            more = {"output_height": 3, "output_width": 2, "sampling_ratio": 2, "spatial_scale": 0.75, "mode": mode}
            if transformation:
                more["coordinate_transformation_mode"] = transformation
            yield Form("RoiAlign", (real(2, 3, 6, 8), regions, numbers), (), more, opset=opset, bound=32)
    yield Form("RoiAlign", (real(2, 3, 6, 8), regions, numbers), (), {"sampling_ratio": 3}, bound=32)
    boxes = np.concatenate([numbers[:, np.newaxis].astype(np.float32), np.round(np.abs(regions))], 1)
    for scale in (1.0, 0.5):
        for sizes in ([2, 3], [4, 1]):
            more = {"pooled_shape": sizes, "spatial_scale": scale}
            yield Form("MaxRoiPool", (real(2, 3, 6, 8), boxes), (), more)
    x, weights, bias = real(2, 4, 6, 5), real(6, 4, 3, 2, seed=1), real(6, seed=2)
    offsets, mask = real(2, 12, 4, 4, seed=3), real(2, 6, 4, 4, seed=4)
    yield Form("DeformConv", (x, weights, offsets), (1,), opset=19, bound=32)
    yield Form("DeformConv", (x, weights, offsets, bias, mask), (1, 3), opset=19, bound=32)
    more = {"group": 2, "offset_group": 2, "strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [2, 1]}
    sizes = real(2, 24, 3, 5, seed=3), None, real(2, 12, 3, 5, seed=4)
    yield Form("DeformConv", (x, real(6, 2, 3, 2, seed=1), *sizes), (1,), more, opset=22, bound=32)


TRANSFORMS = ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT")


def _machine_learning() -> Iterator[Form]:
    """Features, encoders and models without trees, with an open batch."""
    x, numbers = whole(5, 3), whole(5, 3, dtype="int64")
    attributes: dict[str, dict[str, Any]] = {
        "Scaler": {"offset": [1.0, 2.0, 3.0], "scale": [0.5, 2.0, 0.1]},
        "Binarizer": {"threshold": 1.0},
        "FeatureVectorizer": {"inputdimensions": [3]},
        "LinearRegressor": {"coefficients": [1.0, 2.0, 3.0, -1.0, 0.5, 4.0], "intercepts": [1.0, 2.0], "targets": 2},
    }

    def form(type: str, operands: Any, more: Any, **rest: Any) -> Form:
        return Form(type, operands, rest.pop("known", ()), more, domain="ai.onnx.ml", **rest)

    for type, more in attributes.items():
        yield form(type, (x,), more, open=True)
    yield form("Scaler", (numbers,), {"offset": [1.0], "scale": [2.0]}, open=True)
    yield form("FeatureVectorizer", (x, real(5, 2)), {"inputdimensions": [3, 2]}, open=True)
    rows = np.concatenate([x, np.zeros((1, 3), np.float32), -np.abs(x[:1])])
    for norm in ("MAX", "L1", "L2"):
        yield form("Normalizer", (rows,), {"norm": norm}, open=True, ulp=4)
    yield form("Normalizer", (numbers,), {"norm": "L1"}, open=True, ulp=4)
    missing = np.float32([[np.nan, 1, 2], [3, np.nan, 0]])
    for values in ([9.0, 8.0, 7.0], [5.0]):
        yield form("Imputer", (missing,), {"imputed_value_floats": values, "replaced_value_float": np.nan}, open=True)
        yield form("Imputer", (missing,), {"imputed_value_floats": values, "replaced_value_float": 3.0}, open=True)
    more = {"imputed_value_int64s": [9, 8, 7], "replaced_value_int64": int(numbers[0, 0])}
    yield form("Imputer", (numbers,), more, open=True)
    yield form("ArrayFeatureExtractor", (x, I([[2, 0]])), {}, open=True, known=(1,))
    yield form("ArrayFeatureExtractor", (real(4), I([1, 3, 1])), {}, known=(0,))
    yield form("LabelEncoder", (I([3, 1, 2, 1]),), {"keys_int64s": [1, 3, 1], "values_int64s": [5, 6, 7]}, open=True)
    more = {"keys_int64s": [1, 3], "values_floats": [0.5, 1.5], "default_float": 2.5}
    yield form("LabelEncoder", (numbers,), more, open=True)
    more = {"keys_floats": [1.0, -2.0], "values_int64s": [4, 5], "default_int64": 8}
    yield form("LabelEncoder", (x,), more, open=True)
    yield form("OneHotEncoder", (I([3, 1, 2]),), {"cats_int64s": [1, 2, 7], "zeros": 1}, open=True)
    yield form("OneHotEncoder", (whole(4, 1, low=0, high=4),), {"cats_int64s": [1, 2, 3]}, open=True)
    for transform in TRANSFORMS:
        more = {"coefficients": list(map(float, range(-4, 5))), "intercepts": [1.0, 0.0, -1.0], "outputs": 2}
        more |= {"post_transform": transform, "classlabels_ints": [7, 3, 5]}
        yield form("LinearClassifier", (x / 4,), more, open=True, near=4e-7, outputs=more.pop("outputs"))
    vectors = {"support_vectors": list(map(float, range(6))), "coefficients": [0.5, -1.0], "rho": [0.25]}
    for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        more = {"kernel_type": kernel, "kernel_params": [0.125, 0.5, 3.0], "n_supports": 2, **vectors}
        yield form("SVMRegressor", (x / 4,), more, near=1e-5)
        yield form("SVMRegressor", (x / 4,), {**more, "one_class": 1})
    yield from _transformed(x)
    yield form(
        "SVMRegressor",
        (x,),
        {"coefficients": [0.5, -1.0, 2.0], "rho": [0.25], "kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]},
        open=True,
        near=4e-7,
    )
    yield from _classifiers(x)
    yield form("TreeEnsembleRegressor", (x,), {**TREE, **TARGETS}, open=True)
    of_classes = {name.replace("target_", "class_"): value for name, value in TARGETS.items() if name != "n_targets"}
    more = {**TREE, **of_classes, "class_ids": [2, 0, 1], "classlabels_int64s": [7, 3, 5]}
    yield form("TreeEnsembleClassifier", (x,), more, open=True, outputs=2)


def _transformed(x: Any) -> Iterator[Form]:
    """Scores of one target, which only PROBIT transforms, and of several, of which trees leave some at 0."""
    classes = {name.replace("target_", "class_"): value for name, value in TARGETS.items() if name != "n_targets"}
    for transform in TRANSFORMS:
        more: dict[str, Any] = {"post_transform": transform}
        for targets in (1, 3):
            linear = {"coefficients": [0.25, -0.5, 0.125] * targets, "intercepts": [0.375] * targets}
            said = {**linear, **more, "targets": targets}
            yield Form("LinearRegressor", (x / 4,), (), said, domain="ai.onnx.ml", open=True, near=4e-6)
            for base in ({}, {"base_values": [0.125, -0.25, 0.5][:targets]}):
                own = {"target_ids": [0, targets // 2, 0], "target_weights": [0.25, 0.75, 0.5], "n_targets": targets}
                said = {**TREE, **TARGETS, **own, **more, **base}
                yield Form("TreeEnsembleRegressor", (x,), (), said, domain="ai.onnx.ml", open=True, near=1e-6)
        said = {**TREE, **classes, **more, "class_ids": [2, 0, 2], "class_weights": [0.25, 0.75, 0.5],
                "base_values": [0.125, -0.25, 0.5], "classlabels_int64s": [7, 3, 5]}  # fmt: skip
        yield Form("TreeEnsembleClassifier", (x,), (), said, 2, domain="ai.onnx.ml", open=True, near=1e-6)
        vectors = {"support_vectors": list(map(float, range(6))), "coefficients": [0.5, -1.0], "rho": [0.25]}
        said = {**vectors, **more, "kernel_type": "LINEAR", "kernel_params": [0.0] * 3, "n_supports": 2}
        yield Form("SVMRegressor", (x / 4,), (), said, domain="ai.onnx.ml", near=1e-6)


def _classifiers(x: Any) -> Iterator[Form]:
    """Support vector machines of two and four classes, with and without probabilities."""
    for counts in ([2, 1], [1, 3, 2, 1]):
        supports, pairs = sum(counts), len(counts) * (len(counts) - 1) // 2
        more: dict[str, Any] = {
            "vectors_per_class": counts, "classlabels_ints": [7, 3, 5, 4][: len(counts)],
            "support_vectors": real(supports, x.shape[1], seed=1).ravel().tolist(),
            "coefficients": real(len(counts) - 1, supports, seed=2).ravel().tolist(),
            "rho": real(pairs, seed=3).tolist(), "kernel_params": [0.25, 0.5, 2.0],
        }  # fmt: skip
        of_probabilities = {"prob_a": (-np.abs(real(pairs, seed=4))).tolist(), "prob_b": real(pairs, seed=5).tolist()}
        for kernel in ("LINEAR", "POLY", "RBF", "SIGMOID"):
            for given in ({}, of_probabilities):
                said = {**more, **given, "kernel_type": kernel}
                yield Form("SVMClassifier", (x,), (), said, 2, domain="ai.onnx.ml", open=True, near=1e-5)
        for transform in ("LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", *(["PROBIT"] if len(counts) > 2 else [])):
            said = {**more, "kernel_type": "RBF", "post_transform": transform}
            yield Form("SVMClassifier", (x,), (), said, 2, domain="ai.onnx.ml", near=1e-5)


def _scattered() -> Iterator[Form]:
    """Blocks that overlap, lie apart and lie in the padding; caches that are written beyond the end."""
    yield Form("Col2Im", (whole(2, 8, 12), I([4, 5]), I([2, 2])), (1, 2), opset=18)
    more = {"pads": [1, 0, 2, 1], "strides": [2, 1], "dilations": [1, 2]}
    yield Form("Col2Im", (whole(1, 12, 6), I([4, 5]), I([2, 3])), (1, 2), more, opset=18)
    yield Form("Col2Im", (whole(1, 8, 12), I([3, 4, 5]), I([1, 2, 2])), (1, 2), {"strides": [3, 1, 1]}, opset=18)
    at = I([[[[5, 7], [13, 15]]]])
    more = {"kernel_shape": [2, 2], "strides": [2, 2]}
    yield Form("MaxUnpool", (whole(1, 1, 2, 2), at), (), more)
    yield Form("MaxUnpool", (whole(1, 1, 2, 2), at, I([1, 1, 4, 4])), (2,), more)
    cache, new = real(2, 3, 5, 4), real(2, 3, 2, 4, seed=1)
    for mode, starts in (("linear", I([1, 3])), ("circular", I([4, 2]))):
        yield Form("TensorScatter", (cache, new, starts), (), {"mode": mode}, opset=24, is_evaluated=True)
    yield Form("TensorScatter", (cache, new), (), {"axis": 2}, opset=24, is_evaluated=True)
    yield Form(
        "TensorScatter", (real(2, 5, 4), real(2, 2, 4), I([0, 1])), (2,), {"axis": 1}, opset=24, is_evaluated=True
    )
    for dtype in ("float32", "float64", "int32", "int64"):
        for more in ({}, {"exclusive": 1}, {"reverse": 1}, {"exclusive": 1, "reverse": 1}):
            x = whole(3, 4, 2, dtype=dtype)
            yield Form("CumProd", (x, np.int64(1)), (1,), more, opset=26, is_evaluated=True)
    bits = np.float32([0, -0.0, 1.5, np.inf, np.nan])
    for to, array in (
        (6, bits),
        (12, bits),
        (1, bits.view(np.int32)),
        (7, np.float64([1.5, -2])),
        (2, np.int8([-1, 3])),
    ):
        yield Form("BitCast", (array,), (), {"to": to}, opset=26, is_evaluated=True)


def _selected() -> Iterator[Form]:
    """Determinants; boxes that overlap, of equal scores, with corners in any order; equal elements and slices."""
    for size in (1, 2, 3, 5, 16):
        yield Form("Det", (real(2, 3, size, size),), opset=22, open=True)
    yield Form("Det", (whole(40, 3, 3, low=-1, high=2),), opset=22)
    yield Form("Det", (real(4, 4),), opset=11)
    boxes, scores = real(2, 9, 4), whole(2, 3, 9, low=0, high=6)
    for centers in (0, 1):
        for limits in ((I([4]), np.float32([0.3]), np.float32([1])), (I([9]), np.float32([0])), (I([2]),), ()):
            shown = np.abs(boxes) if centers else boxes
            operands = (shown, scores, *limits)
            known = tuple(range(len(operands)))
            yield Form("NonMaxSuppression", operands, known, {"center_point_box": centers}, opset=11)
    for order in (0, 1):
        for dtype in ("float32", "int64", "int8", "float64"):
            x = whole(4, 5, dtype=dtype, low=-2, high=3)
            yield Form("Unique", (x,), (0,), {"sorted": order}, 4, opset=11)
            yield Form("Unique", (x[[0, 1, 0, 2, 1]],), (0,), {"sorted": order, "axis": 0}, 4, opset=11)
            yield Form("Unique", (x[:, [0, 1, 0, 2, 1]],), (0,), {"sorted": order, "axis": -1}, 4, opset=11)
