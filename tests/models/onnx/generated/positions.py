"""Elements by positions, sums along lines, resized images. Hazards: an axis that is counted wrong, a position from the
end, one that several name, the order of sums that cancel, ties of coordinates, equal elements."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import model, node, port


def _elements(rng: np.random.Generator, shape: Any, dtype: str) -> Any:
    return rng.normal(0, 3, shape).astype(np.float32) if dtype == "float32" else draw.integers(rng, shape, dtype)


def _case(op: str, operands: dict[str, Any], known: dict[str, Any], outputs: dict[str, str], **more: Any) -> Case:
    names = {"float32": "FLOAT"}
    said = [port(name, names.get(x.dtype.name, x.dtype.name.upper()), x.shape) for name, x in operands.items()]
    inputs = more.pop("inputs", [*operands, *known])
    made = node(op, inputs, list(outputs), **more)
    content = model([made], said, [port(*each) for each in outputs.items()], known, opset=18)
    return Case(content, [list(operands.values())], ulp=0)


def gathered(rng: np.random.Generator, dtype: str) -> Case:
    shape = draw.shape(rng, int(rng.integers(1, 4)), 6000)
    axis = int(rng.integers(len(shape)))
    own = [draw.size(rng, 30) if d == axis else n for d, n in enumerate(shape)]
    at = rng.integers(-shape[axis], shape[axis], own)
    operands, known = {"x": _elements(rng, shape, dtype), "i": at}, {}
    if rng.random() < 0.5:
        known["i"] = operands.pop("i")
    return _case("GatherElements", operands, known, {"y": _name(dtype)}, axis=axis, inputs=["x", "i"])


def scattered(rng: np.random.Generator, op: str, dtype: str, reduction: str) -> Case:
    shape = draw.shape(rng, int(rng.integers(1, 4)), 3000)
    axis, count = int(rng.integers(len(shape))), int(rng.integers(1, 6))
    if op == "ScatterElements":
        own = [min(n, count) if d == axis else n for d, n in enumerate(shape)]
        at = rng.integers(-shape[axis], shape[axis], own)
        if reduction == "none":
            at = np.argsort(rng.random(shape), axis).take(range(own[axis]), axis)
        more: dict[str, Any] = {"axis": axis}
    else:
        own, more = [count, *shape[1:]], {}
        at = rng.integers(-shape[0], shape[0], (count, 1))
        if reduction == "none":
            at, own = rng.permutation(shape[0])[:count, np.newaxis], [min(count, shape[0]), *shape[1:]]
    if reduction != "none":
        more["reduction"] = reduction
    operands, known = {"x": _elements(rng, shape, dtype), "i": at, "u": _elements(rng, own, dtype)}, {}
    if rng.random() < 0.5:
        known["i"] = operands.pop("i")
    return _case(op, operands, known, {"y": _name(dtype)}, inputs=["x", "i", "u"], **more)


def summed(rng: np.random.Generator, dtype: str) -> Case:
    shape = draw.shape(rng, int(rng.integers(1, 4)), 6000)
    axis = np.int64(rng.integers(-len(shape), len(shape)))
    more = {name: int(rng.integers(2)) for name in ("exclusive", "reverse")}
    return _case("CumSum", {"x": _elements(rng, shape, dtype)}, {"a": axis}, {"y": _name(dtype)}, **more)


def largest(rng: np.random.Generator, dtype: str) -> Case:
    shape = draw.shape(rng, int(rng.integers(1, 4)), 6000)
    axis = int(rng.integers(len(shape)))
    x = np.rint(_elements(rng, shape, dtype)).astype(dtype)
    count = np.int64([rng.integers(1, shape[axis] + 1)])
    return _case("TopK", {"x": x}, {"k": count}, {"y": _name(dtype), "n": "INT64"}, axis=axis,
                 largest=int(rng.integers(2)))  # fmt: skip


def resized(rng: np.random.Generator, dtype: str) -> Case:
    """The nearest elements, to sizes or by scales that often have ties."""
    shape = [int(rng.integers(1, 4)), int(rng.integers(1, 4)), int(rng.integers(2, 41)), int(rng.integers(2, 41))]
    sizes = [*shape[:2], int(rng.integers(1, 41)), int(rng.integers(1, 41))]
    known = {"n": np.int64(sizes)}
    if rng.random() < 0.5:
        known = {"s": np.float32(np.divide(sizes, shape))}
    if rng.random() < 0.2:
        known = {"s": np.float32([1, 1, *rng.choice([0.5, 0.75, 1, 1.5, 2, 3, rng.uniform(0.5, 3)], 2)])}
    modes = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric"]
    more = {"coordinate_transformation_mode": str(rng.choice(modes)),
            "nearest_mode": str(rng.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))}  # fmt: skip
    inputs = ["x", "", "s"] if "s" in known else ["x", "", "", "n"]
    return _case("Resize", {"x": _elements(rng, shape, dtype)}, known, {"y": _name(dtype)}, inputs=inputs, **more)


def resized_linearly(rng: np.random.Generator, dtype: str, layout: str) -> Case:
    """Of random integers, or of equal ones but for one, whose weighted sum may be below them before it is truncated."""
    known, more = int(rng.integers(1, 3)), {"mode": "linear"}
    spatial = rng.integers(1, 20 if layout in ("volume", "volumes") else 40, 3 if "volume" in layout else 2).tolist()
    new = [max(1, int(size * rng.choice([0.5, 1, 1.5, 2, 3, rng.uniform(0.3, 3)]))) for size in spatial]
    before, after = {"images": ([known, 2], []), "last": ([known], [3]), "volumes": ([known, 2], [])}.get(
        layout, ([], [])
    )
    shape, sizes = [*before, *spatial, *after], [*before, *new, *after]
    modes = ["half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric",
             "tf_crop_and_resize"]  # fmt: skip
    more["coordinate_transformation_mode"] = str(rng.choice(modes))
    operands = {"n": np.int64(sizes)}
    if rng.random() < 0.5:
        operands = {"s": np.float32(np.divide(sizes, shape))}
    if more["coordinate_transformation_mode"] == "tf_crop_and_resize":
        axes = range(len(before), len(before) + len(spatial))
        starts, ends = ([value if axis in axes else end for axis, value in enumerate(rng.uniform(*bounds, len(shape)))]
                        for bounds, end in (((-0.2, 0.5), 0), ((0.5, 1.2), 1)))  # fmt: skip
        operands["r"], more["extrapolation_value"] = np.float32([*starts, *ends]), float(rng.uniform(0, 127))
    x = draw.integers(rng, shape, dtype)
    if rng.random() < 0.3:
        x.flat[1:] = x.flat[-1]
    inputs = ["x", "r" if "r" in operands else "", *(["s"] if "s" in operands else ["", "n"])]
    return _case("Resize", {"x": x}, operands, {"y": _name(dtype)}, inputs=inputs, **more)


def _name(dtype: str) -> str:
    return {"float32": "FLOAT"}.get(dtype, dtype.upper())


CASES: dict[str, Callable[[np.random.Generator], Case]] = {
    "CumSum float32": partial(summed, dtype="float32"),
    "CumSum int32": partial(summed, dtype="int32"),
    "CumSum int64": partial(summed, dtype="int64"),
}
for _dtype in ("float32", "int8"):
    CASES[f"GatherElements {_dtype}"] = partial(gathered, dtype=_dtype)
    CASES[f"Resize {_dtype}, nearest"] = partial(resized, dtype=_dtype)
for _dtype in draw.DTYPES:
    for _layout in ("plane", "images", "last", "volume", "volumes"):
        CASES[f"Resize {_dtype}, linear {_layout}"] = partial(resized_linearly, dtype=_dtype, layout=_layout)
for _dtype in ("float32", "int64"):
    CASES[f"TopK {_dtype}"] = partial(largest, dtype=_dtype)
for _op in ("ScatterElements", "ScatterND"):
    for _reduction in ("none", "add", "mul", "max", "min"):
        CASES[f"{_op} {_reduction}"] = partial(scattered, op=_op, dtype="float32", reduction=_reduction)
