"""What an error of the eager API says to write, run with the arguments of the drawn call."""

import ast
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from qrt import QuantTensor
from qrt.ops.core import expressed_dtype
from tests.fuzz.outcome import Finding
from tests.messages.hints import codes, dequantized, names, quietly, run

OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b,
    ast.MatMult: lambda a, b: a @ b,
    ast.Pow: lambda a, b: a**b,
    ast.Mod: lambda a, b: a % b,
    ast.FloorDiv: lambda a, b: a // b,
}


def check_hint(case: str, error: Exception, evaluate: Callable[[str], Any], words: dict[str, Any]) -> None:
    """The code that is said first has the value of NumPy's call on the dequantized arguments, where that has one.
    ``words`` are the functions of NumPy that a case may call."""
    written = codes(error)
    tree = ast.parse(case.strip(), mode="eval").body
    if not written or not isinstance(tree, ast.BinOp | ast.Call):
        return
    keywords: list[ast.keyword] = []
    if isinstance(tree, ast.BinOp):
        function, parts = OPERATORS[type(tree.op)], [tree.left, tree.right]
    elif isinstance(tree.func, ast.Name) and tree.func.id in words:
        function, parts, keywords = words[tree.func.id], tree.args, tree.keywords
    else:
        return
    try:
        operands = [evaluate(ast.unparse(part)) for part in parts]
        options = {keyword.arg: evaluate(ast.unparse(keyword.value)) for keyword in keywords if keyword.arg}
    except Exception:  # the error is that of an operand
        return
    if any(isinstance(x, list) and any(isinstance(item, QuantTensor) for item in x) for x in operands):
        name = f"np.{getattr(function, '__name__', '')}"
        if name not in str(error):  # NumPy computed on the objects of the list, and one operation of that failed
            return
    if function in (np.gcd, np.lcm):  # the hint is about the integers; NumPy computes them of floats only as objects
        return
    # A tensor that was to take the result is left out.
    if isinstance(function, np.ufunc):
        operands[function.nin :] = [None if isinstance(x, QuantTensor) else x for x in operands[function.nin :]]
    if isinstance(options.get("out"), QuantTensor):
        del options["out"]
    try:
        with quietly():
            expected = function(*dequantized(operands), **dequantized(options))
    except Exception:  # the call has no value for arrays either
        return
    if expected is None:  # a call that writes into its operand has no value, and the code gives what to write
        return
    try:
        result = run(written[0], names(operands, options))
    except Exception as failure:
        raise Finding(f"a hint that does not run: {type(failure).__name__}", f"{error}\n{failure}") from failure
    given = [*operands, *options.values()]
    if not _same(result, expected, 1e-5 * _magnitude(given) + _rounding(given)):
        raise Finding("a hint of another value", f"{error}\n{str(expected)[:900]}\n{str(result)[:900]}")


def _rounding(operands: Any) -> float:
    """A bound of the rounding of stored integers in the expressed type, (f(stored) - f(zero_point)) * f(scale): those
    of 16 bits are not all numbers of f16. The hint's own result is rounded so too."""
    bound = 0.0
    for q in operands:
        if isinstance(q, QuantTensor):
            stored = [np.abs(x.astype(np.int64)).max(initial=0) for x in (q.storage, q.type.zero_point_array)]
            epsilon = float(ml_dtypes.finfo(expressed_dtype(q.type.expressed_type)).eps)
            bound += 4 * epsilon * float(max(stored)) * max(q.type.scales)
    return bound


def _magnitude(operands: Any) -> float:
    """The largest finite value of the operands, beside which sums are rounded."""
    arrays = [_numbers(x) for x in dequantized(operands) if not isinstance(x, str | list | tuple)]
    flat = [np.abs(x.astype(np.float64)) for x in arrays if x.dtype.kind in "iuf"]
    return max((float(x[np.isfinite(x)].max(initial=0)) for x in flat), default=0.0)


def _numbers(x: Any) -> Any:
    """An array; of float64 where its dtype is not NumPy's own, and where it holds Python's numbers, as NaNs there are
    not compared."""
    array = np.asarray(x)
    if array.dtype.kind == "O" and all(isinstance(item, int | float) for item in array.flat):
        return array.astype(np.float64)
    return array.astype(np.float64) if array.dtype.type.__module__ == "ml_dtypes" else array


def _same(result: Any, expected: Any, bound: float) -> bool:
    if isinstance(expected, tuple | list):
        return len(result) == len(expected) and all(
            _same(part, other, bound) for part, other in zip(result, expected, strict=True)
        )
    actual, wanted = _numbers(result), _numbers(expected)
    if actual.shape != wanted.shape:
        return False
    if wanted.dtype.kind not in "iuf" or actual.dtype.kind not in "iuf":
        return bool(np.array_equal(actual, wanted, equal_nan=wanted.dtype.kind == "c"))
    with quietly():
        return bool(np.allclose(actual, wanted, rtol=1e-5, atol=bound, equal_nan=True))
