"""Models of one operator, form by form: what `test_operators.py` compares.

Floats that are summed are small integers, so that sums are exact in every order, and a result is right or wrong.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.models.onnx.writing import DTYPES, model, node, port

NAMES = {np.dtype("float32"): "FLOAT", np.dtype("float64"): "DOUBLE", np.dtype("bool"): "BOOL"}


@dataclass
class Form:
    """A model of one node. ``known`` are the operands that the file holds; ``ulp`` how far floats may lie apart,
    ``near`` how far by the largest element of the first operand, ``bound`` how many units of the largest element of the
    result. ``is_evaluated`` has no usable kernel in ONNX Runtime: the reference evaluator is compared.
    """

    type: str
    operands: tuple[Any, ...]
    known: tuple[int, ...] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    outputs: int = 1
    opset: int = 17
    domain: str = ""
    ulp: int = 0
    open: bool = False
    near: float = 0
    bound: float = 0
    is_evaluated: bool = False

    def __str__(self) -> str:
        said = ",".join(f"{name}={value}" for name, value in self.attributes.items())
        shapes = "-".join("x".join(map(str, np.shape(each))) for each in self.operands if each is not None)
        known = "".join(map(str, self.known))
        return f"{self.type}({shapes})[{known}]{said}@{self.opset}{'?' * self.open}"

    @property
    def inputs(self) -> dict[str, Any]:
        """The arrays that a run is given."""
        given = enumerate(self.operands)
        return {f"i{n}": array for n, array in given if array is not None and n not in self.known}

    def content(self) -> bytes:
        """The file."""
        names = ["" if each is None else f"i{n}" for n, each in enumerate(self.operands)]
        outputs = [f"o{n}" for n in range(self.outputs)]
        inputs = [port(name, dtype_of(array), self._shape(array)) for name, array in self.inputs.items()]
        constants = {f"i{n}": np.asarray(self.operands[n]) for n in self.known}
        made = node(self.type, names, outputs, domain=self.domain, **self.attributes)
        results = [port(name, "UNDEFINED") for name in outputs]
        for result in results:
            result.type.Clear()
        return model([made], inputs, results, constants, opset=self.opset)

    def _shape(self, array: Any) -> Any:
        return [None, *array.shape[1:]] if self.open and np.ndim(array) else np.shape(array)


def dtype_of(array: Any) -> str:
    """ONNX's name of an array's dtype."""
    return NAMES.get(np.asarray(array).dtype) or np.asarray(array).dtype.name.upper()


def whole(*shape: int, dtype: str = "float32", low: int = -8, high: int = 9, seed: int = 0) -> Any:
    """Small integers."""
    return np.random.default_rng([seed, *shape]).integers(low, high, shape).astype(dtype)


def real(*shape: int, seed: int = 0) -> Any:
    """Floats."""
    return np.random.default_rng([seed, *shape]).normal(0, 2, shape).astype(np.float32)


I = np.int64  # noqa: E741  # as ONNX's shapes and axes are


def forms() -> list[Form]:
    """Every form."""
    from tests.models.onnx import forms_further, forms_more, forms_sequences

    found = [*_arithmetic(), *_movement(), *_slicing(), *_shapes(), *_windows(), *_products(), *_reductions()]
    return [*found, *forms_more.forms(), *forms_further.forms(), *forms_sequences.forms()]


def _arithmetic() -> Iterator[Form]:
    for type in ("Add", "Sub", "Mul", "Div", "Max", "Min"):
        yield Form(type, (real(2, 3, 4), real(3, 1, seed=1)))
        yield Form(type, (real(3, 4), real(4, seed=1)), (1,), open=True)
        yield Form(type, (whole(3, 4, dtype="int32"), whole(4, dtype="int32", low=1)), (1,))
        yield Form(type, (whole(3, 4, dtype="int64", low=0), whole(3, 4, dtype="int64", low=1)), (0, 1))
    for type in ("Add", "Mul", "Max", "Div"):
        yield Form(type, (whole(5, dtype="uint8", low=0, high=200), whole(5, dtype="uint8", low=1)), opset=14)
    yield Form("Max", (real(5), real(5, seed=1), real(5, seed=2)))
    yield Form("Sum", (real(5), real(5, seed=1), real(5, seed=2)))
    for type in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"):
        yield Form(type, (whole(4, 5), whole(4, 5, seed=3)))
        yield Form(type, (whole(4, 5, dtype="int32"), whole(5, dtype="int32", seed=3)))
        yield Form(type, (np.uint32([0, 1, 2**31, 2**32 - 1]), np.uint32([[1], [2**31]])))
    for type in ("And", "Or", "Xor"):
        yield Form(type, (whole(9, dtype="bool", low=0, high=2), whole(9, dtype="bool", low=0, high=2, seed=1)))
    yield Form("Not", (whole(9, dtype="bool", low=0, high=2),))
    for type in ("Abs", "Ceil", "Floor", "Neg", "Round", "Reciprocal"):
        yield Form(type, (real(4, 5),))
    yield Form("Abs", (whole(9, dtype="int32"),))
    yield Form("Sqrt", (np.abs(real(4, 5)),))
    yield Form("Where", (whole(3, 1, dtype="bool", low=0, high=2), real(3, 4), real(4, seed=1)))
    yield Form("Relu", (real(3, 4),))
    yield Form("Relu", (whole(3, 4, dtype="int8"),), opset=14)
    yield Form("LeakyRelu", (real(3, 4),), attributes={"alpha": 0.25})
    yield Form("PRelu", (real(3, 4), real(4, seed=1)))
    yield Form("HardSigmoid", (real(3, 4),), attributes={"alpha": 0.25, "beta": 0.5})
    yield Form("HardSwish", (real(3, 4),), ulp=4)
    yield Form("Clip", (real(3, 4), np.float32(-1), np.float32(1.5)), (1, 2))
    yield Form("Clip", (real(3, 4), None, np.float32(1.5)), (2,), open=True)
    yield Form("Clip", (real(3, 4),))
    yield Form("Clip", (real(3, 4),), attributes={"min": -1.0, "max": 2.0}, opset=7)
    yield Form("Clip", (whole(9, dtype="uint8", low=0), np.uint8(2), np.uint8(5)), (1, 2))
    for source in ("float32", "int32", "int64", "uint8", "int8", "bool", "float16"):
        for target in ("FLOAT", "INT32", "INT64", "UINT8", "BOOL", "FLOAT16", "DOUBLE"):
            yield Form("Cast", (whole(12, dtype=source, low=0, high=2 if source == "bool" else 9),),
                       attributes={"to": DTYPES[target]})  # fmt: skip


def _movement() -> Iterator[Form]:
    x = real(2, 3, 4)
    for shape in ([6, 4], [-1, 4], [0, -1], [2, 0, 2, 2], [24]):
        yield Form("Reshape", (x, I(shape)), (1,))
        yield Form("Reshape", (x, I(shape)), (0, 1))
    yield Form("Reshape", (x, I([0, 12])), (1,), open=True)
    yield Form("Reshape", (x, I([0, -1])), (1,), open=True)
    yield Form("Reshape", (x, I([-1, 3, 2, 2])), (1,), open=True)
    for axis in (0, 1, 2, 3, -1):
        yield Form("Flatten", (x,), attributes={"axis": axis})
    yield Form("Squeeze", (real(1, 3, 1, 4), I([0, -2])), (1,))
    yield Form("Squeeze", (real(1, 3, 1, 4),))
    yield Form("Squeeze", (real(1, 3, 1, 4),), attributes={"axes": [2]}, opset=11)
    yield Form("Unsqueeze", (x, I([0, -1])), (1,))
    yield Form("Unsqueeze", (x,), attributes={"axes": [1]}, opset=11)
    yield Form("Identity", (x,))
    yield Form("Transpose", (x,))
    yield Form("Transpose", (x,), attributes={"perm": [1, 0, 2]}, open=True)
    yield Form("Transpose", (whole(2, 3, dtype="uint8", low=0),), (0,))
    yield Form("Concat", (x, real(2, 1, 4)), attributes={"axis": 1})
    yield Form("Concat", (x, real(2, 3, 2)), (1,), attributes={"axis": -1})
    yield Form("Concat", (whole(3, dtype="int64"), whole(2, dtype="int64")), (0, 1), attributes={"axis": 0})
    yield Form("Tile", (x, I([1, 2, 3])), (1,))
    yield Form("Expand", (real(3, 1), I([2, 1, 4])), (1,))
    yield Form("Expand", (real(3, 4), I([1])), (1,))
    yield Form("Dropout", (x, np.float32(0.5), np.array(False)), (1, 2), outputs=2)
    for mode in ("DCR", "CRD"):
        yield Form("DepthToSpace", (real(2, 8, 3, 2),), attributes={"blocksize": 2, "mode": mode})
    yield Form("SpaceToDepth", (real(2, 2, 4, 6),), attributes={"blocksize": 2})


def _slicing() -> Iterator[Form]:
    x = real(5, 6, 7)
    for starts, ends, axes, steps in (
        ([1], [4], [0], [1]), ([0, 1], [100, -1], [0, 1], [2, 1]), ([-2], [-5], [2], [-1]),
        ([-1], [-(2**40)], [1], [-2]), ([2], [2**62], [-1], [3]),
    ):  # fmt: skip
        yield Form("Slice", (x, I(starts), I(ends), I(axes), I(steps)), (1, 2, 3, 4))
        yield Form("Slice", (x, I(starts), I(ends), I(axes), I(steps)), (0, 1, 2, 3, 4))
    yield Form("Slice", (x, I([1, 2]), I([3, 4])), (1, 2))
    yield Form("Slice", (x,), attributes={"starts": [1], "ends": [-1], "axes": [1]}, opset=9)
    yield Form("Split", (x, I([2, 4])), (1,), attributes={"axis": 1}, outputs=2)
    yield Form("Split", (x,), attributes={"axis": 1}, outputs=3)
    yield Form("Split", (x,), attributes={"axis": 0, "split": [1, 4]}, outputs=2, opset=11)
    for axis in (0, 1, -1):
        yield Form("Gather", (x, I([[0, -1], [2, 3]])), (1,), attributes={"axis": axis})
        yield Form("Gather", (x, I([[0, -1], [2, 3]])), attributes={"axis": axis})
    yield Form("Gather", (x, np.int64(-2)), (1,))
    yield Form("Gather", (x, np.int32(1)), (0, 1))
    yield Form("GatherND", (x, I([[0, 1], [4, 5]])), (1,))
    yield Form("GatherND", (x, I([[0, 1, 2], [4, 5, 6]])))
    for mode in ("constant", "reflect", "edge"):
        yield Form("Pad", (x, I([1, 0, 2, 0, 1, 3])), (1,), attributes={"mode": mode})
    yield Form("Pad", (x, I([1, 0, -2, 0, -1, 3]), np.float32(2.5)), (1, 2))
    yield Form("Pad", (x, I([1, 2]), np.float32(2.5), I([1])), (1, 2, 3), opset=18)
    yield Form("Pad", (x,), attributes={"pads": [1, 0, 0, 0, 0, 1], "value": 1.5}, opset=9)


def _shapes() -> Iterator[Form]:
    x = real(2, 3, 4)
    yield Form("Shape", (x,))
    yield Form("Shape", (x,), open=True)
    yield Form("Shape", (x,), attributes={"start": 1, "end": -1})
    yield Form("Shape", (x,), attributes={"start": -3}, open=True)
    yield Form("Size", (x,))
    yield Form("ConstantOfShape", (I([2, 3]),), (0,))
    yield Form("Range", (np.int64(2), np.int64(11), np.int64(3)), (0, 1, 2))
    yield Form("Range", (np.float32(2), np.float32(-1), np.float32(-0.5)), (0, 1, 2))
    yield Form("Constant", (), attributes={"value_floats": [1.0, 2.5]})
    yield Form("Constant", (), attributes={"value_int": 3})


def _windows() -> Iterator[Form]:
    x = whole(2, 4, 9, 8)
    for more in (
        {}, {"pads": [1, 0, 2, 1]}, {"strides": [2, 3]}, {"dilations": [2, 1]}, {"auto_pad": "VALID"},
        {"auto_pad": "SAME_UPPER", "strides": [2, 2]}, {"auto_pad": "SAME_LOWER"},
    ):  # fmt: skip
        yield Form("Conv", (x, whole(6, 4, 3, 2), whole(6)), (1, 2), more)
    yield Form("Conv", (x, whole(6, 4, 3, 2)))
    yield Form("Conv", (x, whole(6, 4, 3, 2)), (1,), open=True)
    yield Form("Conv", (x, whole(6, 2, 3, 3)), (1,), {"group": 2})
    yield Form("Conv", (x, whole(8, 1, 3, 3), whole(8)), (1, 2), {"group": 4, "pads": [1, 1, 1, 1]})
    yield Form("Conv", (x, whole(4, 1, 3, 3)), (), {"group": 4})
    yield Form("Conv", (whole(2, 3, 11), whole(5, 3, 4)), (1,), {"strides": [2], "pads": [1, 2]})
    yield Form("Conv", (whole(2, 3, 11), whole(3, 1, 4)), (), {"group": 3})
    yield Form("Conv", (whole(1, 3, 4, 5, 6), whole(2, 3, 2, 2, 2)), (1,))
    pools: tuple[dict[str, Any], ...] = (
        {"kernel_shape": [3, 2]}, {"kernel_shape": [2, 2], "strides": [2, 2]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
        {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
        {"kernel_shape": [2, 2], "strides": [3, 3], "pads": [1, 1, 1, 1], "ceil_mode": 1},
    )  # fmt: skip
    for more in pools:
        yield Form("MaxPool", (real(2, 3, 9, 8),), attributes=more)
        yield Form("MaxPool", (whole(2, 3, 9, 8, dtype="uint8", low=0),), attributes=more)
        yield Form("MaxPool", (whole(2, 3, 9, 8, dtype="int8"),), attributes=more, open=True)
        for counted in (0, 1):
            yield Form("AveragePool", (x,), attributes={**more, "count_include_pad": counted}, ulp=1)
    yield Form("MaxPool", (real(2, 3, 9, 8),), attributes={"kernel_shape": [3, 3], "dilations": [2, 2]})
    yield Form("MaxPool", (real(2, 3, 12),), attributes={"kernel_shape": [3], "strides": [2]})
    yield Form("GlobalAveragePool", (x,), ulp=1)
    yield Form("GlobalMaxPool", (real(2, 4, 9, 8),))


def _products() -> Iterator[Form]:
    yield Form("MatMul", (whole(3, 5), whole(5, 4)), (1,), open=True)
    yield Form("MatMul", (whole(2, 3, 5), whole(2, 5, 4)))
    yield Form("MatMul", (whole(6, 1, 3, 5), whole(2, 5, 4)))
    yield Form("MatMul", (whole(1, 2, 3, 5), whole(5)))
    yield Form("MatMul", (whole(5), whole(5, 4)))
    yield Form("MatMul", (whole(2, 3, 5), whole(5)))
    yield Form("MatMul", (whole(5), whole(5)))
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        operands = whole(*((5, 3) if a else (3, 5))), whole(*((4, 5) if b else (5, 4)))
        yield Form("Gemm", (*operands, whole(4)), (1, 2), {"transA": a, "transB": b})
        yield Form("Gemm", operands, (), {"transA": a, "transB": b})
    yield Form("Gemm", (whole(3, 5), whole(5, 4), whole(3, 1)), (), {"alpha": 0.5, "beta": 2.0})
    for left in ("uint8", "int8"):
        a, b = whole(3, 70, dtype=left, low=0, high=120), whole(70, 4, dtype="int8", low=-128, high=128)
        yield Form("MatMulInteger", (a, b))
        yield Form("MatMulInteger", (a, b, np.array(7, left)), (1, 2))
        yield Form("MatMulInteger", (a, b, np.array(7, left), np.int8(-3)), (1, 3))
        yield Form("MatMulInteger", (a, b, np.array(7, left), np.int8([-3, 0, 5, 9])), (1, 3))
        yield Form("MatMulInteger", (a, b.view(np.uint8), np.array(7, left), np.uint8(130)), (2, 3))

    x, w = whole(2, 3, 7, 6, dtype="uint8", low=0, high=255), whole(4, 3, 3, 2, dtype="uint8", low=0, high=255)
    for more in ({}, {"pads": [1, 1, 1, 1]}, {"strides": [2, 2]}):
        yield Form("ConvInteger", (x, w, np.uint8(130), np.uint8(3)), (1, 2, 3), more)
    yield Form("ConvInteger", (x, w), (1,))


def _reductions() -> Iterator[Form]:
    x = whole(3, 4, 5)
    for type in ("ReduceMax", "ReduceMin", "ReduceMean", "ReduceProd"):
        yield Form(type, (x,), attributes={"axes": [1, -1]}, ulp=1)
        yield Form(type, (x,), attributes={"keepdims": 0}, ulp=1)
        yield Form(type, (x, I([0])), (1,), opset=18, ulp=1)
        for dtype in ("int32", "int64", "float64"):
            if type != "ReduceMean" or dtype == "float64":
                yield Form(type, (whole(3, 4, 5, dtype=dtype), I([0, 2])), (1,), opset=18, ulp=1)
        yield (
            Form(type, (whole(2, 3, dtype="uint8", low=1),), opset=18)
            if type in ("ReduceMax", "ReduceMin")
            else (Form(type, (x, I([1])), (1,), {"noop_with_empty_axes": 1}, opset=18, ulp=1))
        )
    yield Form("ReduceSum", (x, I([0, 2])), (1,), {"keepdims": 0})
    yield Form("ReduceSum", (x,), attributes={"axes": [1]}, opset=11)
    yield Form("Softmax", (real(3, 4, 5),), ulp=8)
    yield Form("Softmax", (real(3, 4, 5),), attributes={"axis": 1}, ulp=8)
    yield Form("Softmax", (real(3, 4, 5),), attributes={"axis": 1}, ulp=8, opset=11)
    for axis in (0, 2):
        yield Form("ArgMax", (x,), attributes={"axis": axis})
        yield Form("ArgMin", (x,), attributes={"axis": axis, "keepdims": 0})
        yield Form("ArgMax", (x // 4,), attributes={"axis": axis, "select_last_index": 1})
    parameters = np.abs(real(3)) + 1, real(3, seed=1), real(3, seed=2), np.abs(real(3, seed=3)) + 1
    yield Form("BatchNormalization", (real(2, 3, 4, 4), *parameters), (1, 2, 3, 4), ulp=4)
