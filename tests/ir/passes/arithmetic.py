"""Lowered functions on exact numbers: a referee for tests, one element at a time, written for reading.

Floats are Python floats that a format holds; each operation is rounded to the format once.
"""

import itertools
import math

import numpy as np

from qrt.numerics import round_integral, round_to_format
from qrt.ops.elementwise import FLOAT_PREDICATES
from qrt.types import FloatType, IntegerType, TensorType


def call(function, *arguments):
    """The results of a function of scalars and static tensors; a tensor is a NumPy object array."""
    block = function.regions[0].blocks[0]
    return _run(block, dict(zip(block.arguments, arguments, strict=True)))


def _run(block, values):
    for operation in block:
        operands = [values[value] for value in operation.operands]
        if operation.name in ("func.return", "linalg.yield"):
            return operands
        name = operation.name.partition(".")[2]
        if operation.name == "linalg.generic":
            result = _generic(operation, operands, values)
        elif operation.name == "arith.constant":
            result = _constant(operation)
        elif operation.name == "tensor.empty":
            result = np.full(operation.results[0].type.shape, None, object)
        elif operation.name == "tensor.splat":
            result = np.full(operation.results[0].type.shape, operands[0], object)
        elif operation.name == "quant.scast":
            result = operands[0]
        else:
            types = [_element(value.type) for value in (*operation.operands, *operation.results)]
            predicate = operation.attributes.get("predicate")
            apply = np.frompyfunc(lambda *x, n=name, t=types, p=predicate: _scalar(n, x, t, p), len(operands), 1)
            with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
                result = apply(*operands)
        values[operation.results[0]] = result
    raise AssertionError("no terminator")


def _element(t):
    return t.element if isinstance(t, TensorType) else t


def _constant(operation):
    value = operation.attributes["value"].python
    if isinstance(value, np.ndarray):
        return np.array([item.item() for item in value.ravel()] + [None], object)[:-1].reshape(value.shape)
    return value


def _generic(operation, operands, values):
    *inputs, output = operands
    maps = [attribute.results for attribute in operation.attributes["indexing_maps"].elements]
    block = operation.regions[0].blocks[0]
    result = np.full(output.shape, None, object)
    for index in itertools.product(*map(range, output.shape)):
        at = [tuple(_affine(expression, index) for expression in results) for results in maps]
        elements = [array[place] for array, place in zip(inputs, at[:-1], strict=True)]
        arguments = dict(zip(block.arguments, [*elements, None], strict=True))
        (result[at[-1]],) = _run(block, values | arguments)
    return result


def _affine(expression, index):
    match expression:
        case int():
            return expression
        case ("d", i):
            return index[i]
        case ("floordiv", left, right):
            return _affine(left, index) // right
    raise AssertionError(f"no affine map of casts has {expression}")


def _scalar(name, operands, types, predicate):
    *sources, result = types
    if isinstance(result, FloatType):
        return float(round_to_format(_float(name, operands, sources, result), result.name))
    assert isinstance(result, IntegerType)
    if name == "cmpf":
        return _compare(tuple(FLOAT_PREDICATES)[predicate.value], *operands)
    if name == "select":
        return operands[1] if operands[0] else operands[2]
    if name in ("fptosi", "fptoui"):
        assert math.isfinite(operands[0]), f"{name} of {operands[0]} is undefined"
        whole, signed = int(operands[0]), name == "fptosi"
        low, high = (-(1 << result.width - 1), 1 << result.width - 1) if signed else (0, 1 << result.width)
        assert low <= whole < high, f"{name} of {operands[0]} to {result} is undefined"
        return _wrap(whole, result)
    if name == "addi":
        return _wrap(sum(operands), result)
    if name == "trunci":
        return _wrap(operands[0], result)
    raise AssertionError(f"arith.{name} has no meaning here")


def _float(name, operands, sources, result):
    with np.errstate(all="ignore"):
        x = [np.float64(value) if isinstance(value, float) else value for value in operands]
        match name:
            case "addf":
                return x[0] + x[1]
            case "subf":
                return x[0] - x[1]
            case "mulf":
                return x[0] * x[1]
            case "divf":
                return x[0] / x[1]
            case "maximumf":
                return np.maximum(x[0], x[1])
            case "minimumf":
                return np.minimum(x[0], x[1])
            case "select":
                return x[1] if x[0] else x[2]
            case "sitofp":
                return np.float64(x[0])
            case "uitofp":
                return np.float64(x[0] & (1 << sources[0].width) - 1)
            case "roundeven" | "round" | "trunc":
                rules = {"roundeven": "half_even", "round": "half_away", "trunc": "toward_zero"}
                return round_integral(x[0], rules[name])
    raise AssertionError(f"{name} has no meaning here")


def _compare(predicate, left, right):
    unordered = math.isnan(left) or math.isnan(right)
    match predicate:
        case "uno":
            return unordered
        case "olt":
            return not unordered and left < right
        case "ogt":
            return not unordered and left > right
    raise AssertionError(f"{predicate} has no meaning here")


def _wrap(value, result):
    half = 1 << result.width - 1
    return ((value + half) & (2 * half - 1)) - half
