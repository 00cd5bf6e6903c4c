"""The inputs of models that are timed, and whether two runtimes give the same outputs."""

from pathlib import Path

import numpy as np

import qrt
from benches.models.worker import read, write
from qrt.models.diff.drawn_inputs import drawn_inputs
from qrt.models.diff.tally import DifferenceTally
from qrt.models.tflite.comparison_source import inputs_of
from qrt.models.tflite.read import read as read_model
from qrt.ops.core import Array, element_dtype
from qrt.types import TensorType

FLOAT_TOLERANCE = 1e-5
"""Of the greatest output of a float model: its ops are bounded one by one, and what they differ adds up."""


def drawn(path: Path, models: Path, target: Path) -> None:
    """Writes the inputs of a model: a photograph where it takes one, or drawn ones."""
    if path.suffix == ".onnx":
        write(str(target), [drawn_port(port.type) for port in qrt.compile(qrt.load(path)).inputs])
        return
    model = read_model(path)
    (inputs,) = drawn_inputs(inputs_of(model.subgraphs[0]), 1)
    tensor = model.subgraphs[0].tensors[model.subgraphs[0].inputs[0]]
    picture = models / "images" / "grace_hopper.bmp"
    if tensor.dtype == "uint8" and len(tensor.shape) == 4 and tensor.shape[3] == 3 and picture.exists():
        from examples.mobilenet.bmp import read as read_image
        from examples.mobilenet.bmp import resized

        inputs = [resized(read_image(picture), *tensor.shape[1:3])[None]]
    write(str(target), inputs)


def drawn_port(kind: TensorType) -> Array:
    """An array of a type: a batch of 1, and 32 of every other size that is open. Integers are below 2 if they are wide,
    as every index may be.
    """
    rng = np.random.default_rng(0)
    shape = [(1 if axis == 0 else 32) if size is None else size for axis, size in enumerate(kind.shape or ())]
    dtype = element_dtype(kind.element)
    if dtype.kind == "f":
        return rng.normal(size=shape).astype(dtype)
    return rng.integers(0, 2 if dtype.itemsize > 2 else np.iinfo(dtype).max, shape).astype(dtype)


def problem(ours: Path, theirs: Path, suffix: str = ".tflite") -> str:
    """Return the reason why outputs are not the same, or an empty text.

    Outputs of ONNX models, whose bits depend on the optimizations of the runtime, must have the same shape and greatest
    element.
    """
    for index, (a, b) in enumerate(zip(read(str(ours)), read(str(theirs)), strict=True)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"output {index} is {a.dtype}{list(a.shape)}, the other is {b.dtype}{list(b.shape)}"
        if suffix == ".onnx":
            if np.argmax(a) != np.argmax(b):
                return f"the greatest element of output {index} is {np.argmax(a)}, not {np.argmax(b)}"
            continue
        if a.dtype.kind == "f":
            apart = np.abs(a.astype(np.float64) - b.astype(np.float64)).max(initial=0)
            if not apart <= FLOAT_TOLERANCE * np.abs(b).max(initial=0):
                return f"output {index} differs by up to {apart:g}"
            continue
        tally = DifferenceTally()
        tally.add(a, b)
        if tally.differ:
            return f"{tally.differ} of {tally.elements} elements of output {index} differ"
    return ""
