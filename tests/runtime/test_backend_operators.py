"""The backend of ONNX: the node tests of the package `onnx` for control, positions, numbers, reductions, and what ONNX
defines by other operators. Hazard: a form that no other test has."""

from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper
from onnx.backend.test.case import node as cases

from qrt.errors import ModelError
from qrt.models.onnx import backend

MODULES = (
    "affinegrid", "argmax", "argmin", "attention", "bitshift", "bitwisenot", "causal_conv_with_state",
    "center_crop_pad", "compress", "convtranspose", "cumsum", "eyelike", "gatherelements", "gathernd",
    "groupnormalization", "gru", "hardmax", "if_", "instance_normalization", "isinf", "isnan", "linear_attention",
    "logsoftmax", "loop", "lpnormalization", "lppool", "lrn", "lstm", "matmul", "mean", "meanvariancenormalization",
    "mod", "negativeloglikelihoodloss", "nonzero", "onehot", "reduce_log_sum_exp", "reducel1", "reducel2",
    "reducesumsquare", "resize", "reversesequence", "rnn", "rotaryembedding", "scan", "scatter", "scatterelements",
    "scatternd", "shrink", "sign", "slice", "softmax_cross_entropy_loss", "swiglu", "thresholdedrelu", "topk", "trilu",
    "upsample",
)  # fmt: skip
APART = ("_expanded", "bf16", "downsample_scales_linear_align_corners", "downsample_scales_cubic_align_corners")
"""Parts of the names of cases that are left out: definitions, types that no array has, and two that ONNX Runtime does
not follow either: the length of an axis is no integer there."""
ELSEWHERE = (
    "ConvInteger", "DequantizeLinear", "DynamicQuantizeLinear", "MatMulInteger", "QLinearConv", "QLinearMatMul",
    "QuantizeLinear",
)  # fmt: skip
"""The operators that `test_backend.py` has."""
REFUSED = (
    "it must be a tensor, got a sequence", "it must be a tensor, got a optional", "every dimension of an input must be",
    "Scan (before opset 9, with batches)", "SequenceConstruct (unknown operator)",
    ", whose type changes between iterations:", "of float16", "of double",
)  # fmt: skip
"""What errors say of the cases that are refused."""


@cache
def by_operator() -> dict[str, list[Any]]:
    """The cases of each operator, without those in which its definition stands already."""
    with np.errstate(all="ignore"):
        for name in MODULES:
            import_module(f"onnx.backend.test.case.node.{name}")
    found: dict[str, list[Any]] = {}
    for case in cases._NodeTestCases:
        kind = case.model.graph.node[0].op_type
        if not any(part in case.name for part in APART) and kind not in ELSEWHERE:
            found.setdefault(kind, []).append(case)
    return found


def results(case: Any) -> Iterator[tuple[Any, Any]]:
    prepared = backend.Backend.prepare(case.model)
    for inputs, outputs in case.data_sets:
        for ours, theirs in zip(prepared.run(inputs), outputs, strict=True):
            yield ours, numpy_helper.to_array(theirs) if hasattr(theirs, "SerializeToString") else theirs


@pytest.mark.parametrize("operator", by_operator())
def test_the_cases_of_an_operator(operator: str) -> None:
    """Equal, or as near as the case says; and not all are refused."""
    compared = 0
    for case in by_operator()[operator]:
        try:
            for ours, theirs in results(case):
                assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), case.name
                wide = [np.asarray(each).astype(np.float64) for each in (ours, theirs)]
                np.testing.assert_allclose(*wide, rtol=case.rtol, atol=case.atol, err_msg=case.name)
            compared += 1
        except ModelError as error:
            if not any(said in str(error) for said in REFUSED):
                raise
    assert compared or operator == "Loop"
