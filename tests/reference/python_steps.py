"""The steps of imported models that Python computes: sections of docs/reference/tflite.md and onnx.md.

`tests/models/test_steps.py` compares these tables with the steps of a program of each form.
"""

TFLITE: dict[str, str] = {
    "arith.extf": "DEQUANTIZE",
    "arith.index_cast": "DYNAMIC_UPDATE_SLICE",
    "arith.shli": "STABLEHLO_SHIFT_LEFT",
    "arith.shrsi arith.shrui tensor.bitcast": "RIGHT_SHIFT",
    "linalg.generic": "EMBEDDING_LOOKUP LOCAL_RESPONSE_NORMALIZATION STABLEHLO_GATHER UNSORTED_SEGMENT_MAX "
    "UNSORTED_SEGMENT_MIN UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_SUM",
    "math.atan2": "ATAN2",
    "math.exp qrt.detection_postprocess": "TFLite_Detection_PostProcess",
    "qrt.cumsum": "CUMSUM",
    "qrt.div": "DIV",
    "qrt.non_max_suppression": "NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5",
    "qrt.scatter_nd": "EMBEDDING_LOOKUP_SPARSE SCATTER_ND SEGMENT_SUM SPARSE_TO_DENSE STABLEHLO_SCATTER",
    "quant.scast": "STABLEHLO_GATHER",
}
"""The operators of TFLite that have a step in Python, by the ops of the steps."""

ONNX: dict[str, str] = {
    "arith.bitcast arith.cmpf arith.extsi arith.extui arith.sitofp arith.trunci arith.uitofp": "Cast",
    "arith.divui": "Div",
    "arith.extf": "Abs Cast Conv Exp QuantizeLinear Sigmoid Softmax",
    "arith.remui": "Mod",
    "arith.shli": "BitShift",
    "arith.shrui": "BitShift Cast",
    "arith.truncf": "Cast DequantizeLinear Gemm Reciprocal Sigmoid Softmax Sqrt Tanh",
    "linalg.generic": "LRN Resize ai.onnx.ml.TreeEnsemble ai.onnx.ml.TreeEnsembleClassifier "
    "ai.onnx.ml.TreeEnsembleRegressor",
    "math.exp math.log": "ReduceLogSumExp",
    "math.powf": "GlobalLpPool LRN LpPool ai.onnx.ml.SVMRegressor",
    "qrt.cumsum": "CumSum",
    "qrt.scatter_nd": "MaxUnpool ScatterElements ScatterND TensorScatter com.microsoft.GroupQueryAttention",
    "tensor.bitcast": "Cast Div Mod Resize",
}
"""The same of ONNX."""


_TEXT = """
## Steps that Python computes

Kernels in C compute the steps of most models. Python computes the steps in this table, which makes some models slower.
The second column has the operators of which at least one form has such a step. Forms whose sizes only the run knows are
left out: Python computes many of their steps. `qrt explain` lists the steps of a model, and what runs each of them.

| steps | operators |
|---|---|
"""


def section(table: dict[str, str]) -> str:
    """Return the section of a page with one of these tables."""
    rows = [
        f"| {', '.join(f'`{op}`' for op in ops.split())} | {', '.join(operators.split())} |\n"
        for ops, operators in table.items()
    ]
    return _TEXT + "".join(rows)


def by_operator(table: dict[str, str]) -> dict[str, set[str]]:
    """Return the ops of the steps, by operator."""
    ops_of: dict[str, set[str]] = {}
    for ops, operators in table.items():
        for operator in operators.split():
            ops_of.setdefault(operator, set()).update(ops.split())
    return ops_of
