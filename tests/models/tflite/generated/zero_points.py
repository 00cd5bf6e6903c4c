"""The forms of int16 that LiteRT also runs with zero points other than 0. Hazards: a zero point of 16 bits that a sum
of 32 bits does not hold, padding that is not 0, tensors of one scale that must share their zero point."""

from dataclasses import replace
from functools import partial

import tflite

from tests.models.beside import Case
from tests.models.tflite.generated import (
    activations,
    comparisons,
    movement,
    pairs,
    pools,
    quantize,
    scattering,
    selection,
    softmax,
)


def with_zero_points(rng, form):
    """A model of a form, in which int16 tensors of the same scale have the same drawn zero point."""
    case: Case = form(rng)
    content, drawn = bytearray(case.content), {}
    graph = tflite.Model.GetRootAsModel(content, 0).Subgraphs(0)
    for tensor in map(graph.Tensors, range(graph.TensorsLength())):
        quantization = tensor.Quantization()
        if tensor.Type() == tflite.TensorType.INT16 and quantization is not None and quantization.ScaleLength() == 1:
            ends = [int(rng.integers(-300, 300)), int(rng.integers(-32768, 32768)), -32768, 32767]
            value = drawn.setdefault(quantization.Scale(0), int(rng.choice(ends)))
            quantization.ZeroPointAsNumpy()[:] = value
    return replace(case, content=bytes(content))


_FAMILIES = (activations, comparisons, movement, pairs, pools, quantize, scattering, selection, softmax)
_FORMS = {name: form for family in _FAMILIES for name, form in family.CASES.items()}
_NAMES = [
    *(f"{name} i16" for name in ("PRELU", "NEG", "EQUAL", "GREATER", "LESS_EQUAL", "MAXIMUM", "MINIMUM")),
    *(f"{name} i16" for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D", "RESHAPE", "TRANSPOSE", "PAD", "STRIDED_SLICE")),
    *(f"{name} i16" for name in ("SPLIT", "PACK", "REVERSE_V2", "GATHER", "GATHER_ND", "REVERSE_SEQUENCE", "TOPK_V2")),
    *(f"RESIZE_BILINEAR i16, {way}" for way in ("neither", "align_corners", "half_pixel_centers")),
    "RESIZE_NEAREST_NEIGHBOR i16, neither",
    "QUANTIZE i16 to i8",
    "QUANTIZE i8 to i16",
    "QUANTIZE i32 to i16",
    "QUANTIZE f32 to i16",
    "SOFTMAX i8 to i16",
]
CASES = {f"{name}, zero points": partial(with_zero_points, form=_FORMS[name]) for name in _NAMES}
