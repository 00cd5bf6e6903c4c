"""Operators of tensors whose sizes only the run knows, each run with its own. Hazards: a border whose width depends on
the size, an image as large as the window, a broadcast along two axes, positions from the end, an axis without elements,
sequences of several lengths, sizes that are computed from sizes."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tests.models.beside import Case
from tests.models.onnx.generated import draw
from tests.models.onnx.writing import Shape, model, node, port

IMAGES = ("batch", 3, "height", "width")
LINE = 1e-5
"""How far sums apart may lie of a few hundred floats near 1: docs/reference/onnx.md."""

FURTHER_REDUCTIONS = ("mul", "max", "min")


def _floats(rng: np.random.Generator, *shape: int) -> Any:
    return rng.normal(size=shape).astype(np.float32)


def _shapes(rng: np.random.Generator, *least: int) -> list[tuple[int, ...]]:
    """Two shapes of images, the first of them as small as it may be."""
    return [(1, 3, *least), (int(rng.integers(1, 4)), 3, *(int(n) for n in rng.integers(least, np.add(least, 9))))]


def window(rng: np.random.Generator, op: str, group: int = 1, axes: int = 2) -> Case:
    kernel = [int(n) for n in rng.integers(1, 4, axes)]
    said: dict[str, Any] = {"strides": [int(n) for n in rng.integers(1, 3, axes)]}
    said["pads"] = [int(rng.integers(0, k)) for _ in range(2) for k in kernel]
    constants = {}
    if op in ("Conv", "ConvTranspose"):
        filters = group * int(rng.integers(1, 4))
        shape = (filters, 3 // group) if op == "Conv" else (3, filters // group)
        constants["w"] = _floats(rng, *shape, *kernel)
        said["group"] = group
    else:
        said["kernel_shape"] = kernel
        if op == "AveragePool":
            said["count_include_pad"] = int(rng.integers(2))
    content = model([node(op, ["x", *constants], ["y"], **said)], [port("x", shape=IMAGES[: axes + 2])], [port("y")],
                    constants)  # fmt: skip
    runs = [[_floats(rng, *shape)] for shape in _shapes(rng, *(k + 1 for k in kernel))]
    return Case(content, runs, absolute=LINE)


def whole(rng: np.random.Generator, op: str, **said: Any) -> Case:
    """A mean over whole images."""
    content = model([node(op, ["x"], ["y"], **said)], [port("x", shape=IMAGES)], [port("y")])
    return Case(content, [[_floats(rng, *shape)] for shape in _shapes(rng, 1, 1)], absolute=LINE)


def border(rng: np.random.Generator, mode: str) -> Case:
    pads = [0, 0, *(int(n) for n in rng.integers(0, 4, 2)), 0, 0, *(int(n) for n in rng.integers(0, 4, 2))]
    made = node("Pad", ["x", "p"], ["y"], mode=mode)
    content = model([made], [port("x", shape=IMAGES)], [port("y")], {"p": np.int64(pads)}, opset=19)
    return Case(content, [[_floats(rng, *shape)] for shape in _shapes(rng, 4, 4)], ulp=0)


def border_of_the_run(rng: np.random.Generator) -> Case:
    content = model([node("Pad", ["x", "p"], ["y"])], [port("x", shape=IMAGES), port("p", "INT64", (8,))], [port("y")])
    return Case(content, [[_floats(rng, *shape), rng.integers(0, 4, 8)] for shape in _shapes(rng, 1, 2)], ulp=0)


def outer(rng: np.random.Generator, op: str, dtype: str) -> Case:
    ports = [port("a", dtype.upper(), ("n", 1, "m")), port("b", dtype.upper(), ("n", "k", 1))]
    content = model([node(op, ["a", "b"], ["y"])], ports, [port("y", "BOOL" if op == "Less" else dtype.upper())])
    kind = np.dtype("float32" if dtype == "float" else dtype)
    sizes = [tuple(int(n) for n in rng.integers(1, 19, 3)) for _ in range(2)]
    runs = [[(9 * rng.normal(size=shape)).astype(kind) for shape in ((n, 1, m), (n, k, 1))] for n, k, m in sizes]
    return Case(content, runs, ulp=0)


def chosen(rng: np.random.Generator, at_run: bool) -> Case:
    """Gather, with positions from both ends."""
    shapes = [tuple(int(n) for n in rng.integers(3, 30, 2)) for _ in range(2)]
    places = rng.integers(-3, 3, int(rng.integers(1, 6)))
    constants = {} if at_run else {"i": places}
    ports = [port("x", shape=("n", "m")), *([port("i", "INT64", ("k",))] if at_run else [])]
    content = model([node("Gather", ["x", "i"], ["y"], axis=1)], ports, [port("y")], constants)
    return Case(content, [[_floats(rng, *shape), *([places] if at_run else [])] for shape in shapes], ulp=0)


def part(rng: np.random.Generator) -> Case:
    """Slice, of which many a part is empty."""
    bounds = [rng.integers(-30, 31, 2) for _ in range(2)]
    constants = {"s": bounds[0], "e": bounds[1], "a": np.int64([0, 1]), "t": rng.integers(1, 3, 2)}
    content = model([node("Slice", ["x", *constants], ["y"])], [port("x", shape=("n", "m"))], [port("y")], constants)
    return Case(content, [[_floats(rng, *rng.integers(1, 40, 2))] for _ in range(2)], ulp=0)


def reshaped(rng: np.random.Generator) -> Case:
    """Joins two axes, splits the next one, and takes what is left for the last."""
    at = [node("Gather", ["s", f"n{i}"], [f"d{i}"]) for i in range(3)]
    steps = [node("Mul", ["d0", "d1"], ["rows"]), node("Div", ["d2", "n2"], ["half"]),
             *(node("Unsqueeze", [name, "first"], [f"{name}1"]) for name in ("half", "rows")),
             node("Concat", ["half1", "rows1", "rest"], ["shape"], axis=0)]  # fmt: skip
    constants = {**{f"n{i}": np.int64(i) for i in range(3)}, "first": np.int64([0]), "rest": np.int64([-1])}
    nodes = [node("Shape", ["x"], ["s"]), *at, *steps, node("Reshape", ["x", "shape"], ["y"])]
    content = model(nodes, [port("x", shape=("a", "b", "c"))], [port("y")], constants)
    sizes = [rng.integers(1, 9, 3) * (1, 1, 2) for _ in range(2)]
    return Case(content, [[_floats(rng, *shape)] for shape in sizes], ulp=0)


def listed(rng: np.random.Generator) -> Case:
    """Range up to a size, and its numbers expanded to a shape of the run."""
    nodes = [node("Shape", ["x"], ["s"]), node("Gather", ["s", "one"], ["n"]),
             node("Range", ["from", "n", "step"], ["r"]), node("Unsqueeze", ["r", "axes"], ["c"]),
             node("Expand", ["c", "to"], ["y"])]  # fmt: skip
    constants = {"one": np.int64(1), "from": np.int64(rng.integers(-2, 3)), "axes": np.int64([1]),
                 "step": np.int64(rng.integers(1, 4))}  # fmt: skip
    ports = [port("x", shape=("a", "b")), port("to", "INT64", (3,))]
    runs: list[Any] = []
    for _ in range(2):
        a, b = rng.integers(1, 9, 2)
        runs.append([_floats(rng, a, b), np.int64([rng.integers(1, 4), 1, rng.integers(1, 4)])])
    return Case(model(nodes, ports, [port("y", "INT64")], constants), runs, ulp=0)


def resized(rng: np.random.Generator, mode: str, coordinates: str, by: str) -> Case:
    """Resize by scales, or to sizes of the run."""
    said = {"mode": mode, "coordinate_transformation_mode": coordinates}
    if mode == "nearest":
        said["nearest_mode"] = str(rng.choice(["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]))
    scales = np.float32([1, 1, *rng.choice([0.5, 1, 1.5, 2, 3], 2)])
    names, constants = (["x", "", "s"], {"s": scales}) if by == "scales" else (["x", "", "", "n"], {})
    ports = [port("x", shape=IMAGES), *([port("n", "INT64", (4,))] if by != "scales" else [])]
    content = model([node("Resize", names, ["y"], **said)], ports, [port("y")], constants)
    runs = []
    for shape in _shapes(rng, 2, 2):
        sizes = [] if by == "scales" else [np.int64([*shape[:2], *rng.integers(1, 20, 2)])]
        runs.append([_floats(rng, *shape), *sizes])
    return Case(content, runs, ulp=0 if mode == "nearest" else 32, absolute=0 if mode == "nearest" else LINE)


def moved(rng: np.random.Generator, op: str) -> Case:
    """Split, Tile by repeats of the run, blocks of images, triangles and normalizations."""
    of_each: dict[str, dict[str, Any]] = {
        "Split": {"axis": 2},
        "DepthToSpace": {"blocksize": 2, "mode": str(rng.choice(["DCR", "CRD"]))},
        "SpaceToDepth": {"blocksize": 2},
        "Trilu": {"upper": int(rng.integers(2))},
    }
    said = of_each.get(op, {})
    shape = ("batch", 4, "height", "width")
    constants: dict[str, Any] = {}
    if op == "Trilu":
        constants["k"] = np.int64(rng.integers(-3, 4))
    if op == "InstanceNormalization":
        constants = {"s": _floats(rng, 4), "b": _floats(rng, 4)}
    ports = [port("x", shape=shape), *([port("n", "INT64", (4,))] if op == "Tile" else [])]
    names = ["x", *constants, *(["n"] if op == "Tile" else [])]
    outputs = ["y", "z"] if op == "Split" else ["y"]
    content = model([node(op, names, outputs, **said)], ports, list(map(port, outputs)), constants)
    sizes = [(1, 4, 2, 2), (2, 4, *(2 * rng.integers(1, 9, 2)))]
    runs = [[_floats(rng, *size), *([rng.integers(1, 4, 4)] if op == "Tile" else [])] for size in sizes]
    return Case(content, runs, ulp=0, absolute=2e-3 if op == "InstanceNormalization" else 0)


def ceiled(rng: np.random.Generator, op: str) -> Case:
    """Pools of ceil_mode, whose last window may lie over the border."""
    said: dict[str, Any] = {"ceil_mode": 1}
    for name, ends in (("kernel_shape", (2, 4, 2)), ("strides", (1, 4, 2)), ("pads", (0, 2, 4))):
        said[name] = [int(n) for n in rng.integers(*ends)]
    content = model([node(op, ["x"], ["y"], **said)], [port("x", shape=IMAGES)], [port("y")])
    return Case(content, [[_floats(rng, *shape)] for shape in _shapes(rng, 4, 4)], absolute=LINE)


def sequences(rng: np.random.Generator, op: str, direction: str, lengths: bool) -> Case:
    gates, directions = {"LSTM": 4, "GRU": 3, "RNN": 1}[op], 1 + (direction == "bidirectional")
    inputs, cells = (int(n) for n in rng.integers(1, 9, 2))
    shapes = {"w": (gates * cells, inputs), "r": (gates * cells, cells), "b": (2 * gates * cells,)}
    constants = {name: _floats(rng, directions, *shape) / 2 for name, shape in shapes.items()}
    names = ["x", *constants, *(["n"] if lengths else [])]
    outputs = ["y", "h", "c"] if op == "LSTM" else ["y", "h"]
    made = node(op, names, outputs, hidden_size=cells, direction=direction)
    ports = [port("x", shape=("steps", "batch", inputs)), *([port("n", "INT32", ("batch",))] if lengths else [])]
    runs = []
    for _ in range(2):
        steps, batch = (int(n) for n in rng.integers(1, 6, 2))
        numbers = rng.integers(0 if batch > 1 else 1, steps + 1, batch).astype(np.int32)
        numbers[:1] = steps
        runs.append([_floats(rng, steps, batch, inputs), *([numbers] if lengths else [])])
    return Case(model([made], ports, list(map(port, outputs)), constants), runs, absolute=LINE)


def _named(shape: Sequence[int], *opened: int) -> Shape:
    return [f"n{axis}" if axis in opened else size for axis, size in enumerate(shape)]


def integers(rng: np.random.Generator) -> Case:
    """ConvInteger of images of open size, padded, whose zero point only the run knows."""
    w = draw.integers(rng, (5, 3, 3, 2), "uint8")
    constants = {"w": w, "zw": draw.zero_point(rng, "uint8")}
    said = {"pads": [int(n) for n in rng.integers(0, 2, 4)], "strides": [int(n) for n in rng.integers(1, 3, 2)]}
    ports = [port("x", "UINT8", _named((1, 3, 1, 1), 0, 2, 3)), port("z", "UINT8", ())]
    content = model([node("ConvInteger", ["x", "w", "z", "zw"], ["y"], **said)], ports, [port("y", "INT32")], constants)
    runs = [[draw.integers(rng, shape, "uint8"), draw.zero_point(rng, "uint8")] for shape in _shapes(rng, 3, 2)]
    return Case(content, runs)


def same(rng: np.random.Generator, op: str) -> Case:
    """A window whose padding follows from the size of the image."""
    kernel = [int(n) for n in rng.integers(1, 5, 2)]
    strides = [int(rng.integers(1, n + 1 + (op == "Conv"))) for n in kernel]  # the runtime crops images of Conv alone
    said: dict[str, Any] = {"strides": strides, "auto_pad": str(rng.choice(["SAME_UPPER", "SAME_LOWER"]))}
    constants = {"w": _floats(rng, 4, 3, *kernel)} if op == "Conv" else {}
    said |= {} if op == "Conv" else {"kernel_shape": kernel}
    said |= {"count_include_pad": 1} if op == "AveragePool" else {}
    content = model([node(op, ["x", *constants], ["y"], **said)], [port("x", shape=IMAGES)], [port("y")], constants)
    runs = [[_floats(rng, *shape)] for shape in _shapes(rng, *kernel)]
    return Case(content, runs, absolute=LINE)


def at_indices(rng: np.random.Generator, op: str, dtype: str = "float32", reduction: str = "") -> Case:
    """Gather and scatter of elements and rows, all of whose sizes only the run knows."""
    axis, batch = int(rng.integers(3)), int(rng.integers(2))
    said: dict[str, Any] = {"axis": axis} if op.endswith("Elements") else {}
    said |= {"batch_dims": batch} if op == "GatherND" else {}
    said |= {"reduction": reduction} if reduction else {}
    columns, runs = int(rng.integers(1, 4 - (batch if op == "GatherND" else 0))), []
    for _ in range(2):
        shape = [int(n) for n in rng.integers(1, 7, 3)]
        x = draw.integers(rng, shape, dtype) if dtype != "float32" else _floats(rng, *shape)
        if op.endswith("Elements"):
            own = [int(rng.integers(1, n + 1)) for n in shape]
            order = np.argsort(rng.random(shape), axis)[tuple(map(slice, own))]  # no element twice
            at = order - shape[axis] * rng.integers(0, 2, own)
            if reduction in FURTHER_REDUCTIONS:  # each of several updates of one element counts
                at = rng.integers(-shape[axis], shape[axis], own)
            updates = own
        else:
            rows = shape[:batch] if op == "GatherND" else []
            skipped = len(rows)
            count = int(rng.integers(1, 5))
            picked = rng.permutation(int(np.prod(shape[:columns])))[:count] if op == "ScatterND" else None
            if picked is None:
                at = np.stack([rng.integers(-n, n, [*rows, count]) for n in shape[skipped : skipped + columns]], -1)
            else:
                at = np.stack(np.unravel_index(picked, shape[:columns]), -1)
            updates = [*at.shape[:-1], *shape[columns:]]
        given = [x, at.astype(np.int64)]
        if op.startswith("Scatter"):
            given.append(draw.integers(rng, updates, dtype) if dtype != "float32" else _floats(rng, *updates))
        if reduction in ("max", "min") and dtype == "float32":
            for array in (given[0], given[2]):
                array[rng.random(array.shape) < 0.1] = np.nan
        runs.append(given)
    kind = "FLOAT" if dtype == "float32" else dtype.upper()
    shapes = {"x": ("a", "b", "c"), "i": ("d", "e", "f") if op.endswith("Elements") else
              (*(f"d{i}" for i in range(runs[0][1].ndim - 1)), columns)}  # fmt: skip
    ports = [port("x", kind, shapes["x"]), port("i", "INT64", shapes["i"])]
    if op.startswith("Scatter"):
        ports.append(port("u", kind, tuple(f"u{i}" for i in range(runs[0][2].ndim))))
    names = ["x", "i", *(["u"] if op.startswith("Scatter") else [])]
    return Case(model([node(op, names, ["y"], **said)], ports, [port("y", kind)], opset=18), runs, ulp=0)


def ordered_along_open(rng: np.random.Generator, dtype: str) -> Case:
    """TopK along an axis whose size only the run knows, of integers with many equal ones, or of floats."""
    axis, count = int(rng.integers(3)), int(rng.integers(5))
    made = node("TopK", ["x", "k"], ["y", "i"], axis=axis, largest=int(rng.integers(2)))
    kind = "FLOAT" if dtype == "float32" else dtype.upper()
    ports = [port("x", kind, ("a", "b", "c"))], [port("y", kind), port("i", "INT64")]
    content, runs = model([made], *ports, {"k": np.int64([count])}), []
    for _ in range(2):
        shape = [int(rng.integers(count if d == axis else 1, 8)) for d in range(3)]
        runs.append([_floats(rng, *shape) if dtype == "float32" else rng.integers(-3, 4, shape).astype(dtype)])
    return Case(content, runs, ulp=0)


def ordered(rng: np.random.Generator) -> Case:
    """TopK of lines whose number only the run knows."""
    axis, size = int(rng.integers(3)), int(rng.integers(1, 9))
    shape = ["a", "b", "c"]
    said = {"axis": axis, "largest": int(rng.integers(2))}
    dims: list[Any] = [size if d == axis else name for d, name in enumerate(shape)]
    made = node("TopK", ["x", "k"], ["y", "i"], **said)
    constants = {"k": np.int64([rng.integers(1, size + 1)])}
    content = model([made], [port("x", shape=dims)], [port("y"), port("i", "INT64")], constants)
    runs = [[_floats(rng, *(size if d == axis else int(rng.integers(1, 7)) for d in range(3)))] for _ in range(2)]
    return Case(content, runs, ulp=0)


CASES: dict[str, Any] = {
    "open TopK": ordered,
    "open ConvInteger": integers,
    "open Expand and Range": listed,
    "open GlobalAveragePool": partial(whole, op="GlobalAveragePool"),
    "open ReduceMean": partial(whole, op="ReduceMean", axes=[2, 3]),
    "open Reshape": reshaped,
    "open Slice": part,
    "open Pad by widths of the run": border_of_the_run,
    "open Conv, depthwise": partial(window, op="Conv", group=3),
    "open Conv, one axis": partial(window, op="Conv", axes=1),
}
CASES |= {f"open {op}, ceil_mode": partial(ceiled, op=op) for op in ("MaxPool", "AveragePool")}
CASES |= {
    f"open {op}": partial(moved, op=op)
    for op in ("Split", "Tile", "DepthToSpace", "SpaceToDepth", "Trilu", "InstanceNormalization")
}
CASES |= {
    f"open Resize {mode}, {coordinates}, by {by}": partial(resized, mode=mode, coordinates=coordinates, by=by)
    for mode, coordinates in (("nearest", "half_pixel"), ("nearest", "asymmetric"), ("linear", "half_pixel"),
                              ("linear", "align_corners"), ("linear", "pytorch_half_pixel"))
    for by in ("scales", "sizes")
}  # fmt: skip
CASES |= {f"open {op}": partial(window, op=op) for op in ("Conv", "ConvTranspose", "MaxPool", "AveragePool")}
CASES |= {f"open Pad, {mode}": partial(border, mode=mode) for mode in ("constant", "reflect", "edge", "wrap")}
CASES |= {f"open Gather, at {when}": partial(chosen, at_run=when == "run") for when in ("import", "run")}
CASES |= {f"open {op}, outer, of {dtype}": partial(outer, op=op, dtype=dtype)
          for op, dtype in (("Add", "float"), ("Mul", "int64"), ("Less", "int32"))}  # fmt: skip
CASES |= {
    f"open {op} {direction}{', lengths' * lengths}": partial(sequences, op=op, direction=direction, lengths=lengths)
    for op, direction in (("LSTM", "bidirectional"), ("GRU", "forward"), ("RNN", "reverse"))
    for lengths in (False, True)
}
CASES |= {f"open {op}, SAME padding": partial(same, op=op) for op in ("Conv", "MaxPool", "AveragePool")}
CASES |= {
    f"open {op} {dtype}": partial(at_indices, op=op, dtype=dtype)
    for op in ("GatherElements", "GatherND", "ScatterElements", "ScatterND")
    for dtype in ("float32", "int8")
}
CASES |= {
    f"open {op} int32, add": partial(at_indices, op=op, dtype="int32", reduction="add")
    for op in ("ScatterElements", "ScatterND")
}
CASES |= {f"open TopK along an open axis, {dtype}": partial(ordered_along_open, dtype=dtype)
          for dtype in ("float32", "int64")}  # fmt: skip
CASES |= {
    f"open {op} {dtype}, {reduction}": partial(at_indices, op=op, dtype=dtype, reduction=reduction)
    for op in ("ScatterElements", "ScatterND")
    for dtype in ("float32", "int8", "uint8")
    for reduction in FURTHER_REDUCTIONS
}
