"""StableHLO's uniform_quantize is a qcast that rounds half to even after it has added the zero point, and its
uniform_dequantize is a dcast: the reference interpreter of jaxlib gives the same integers and floats, bit for bit.

The interpreter executes float32 as expressed type alone, per layer, and per axis in tensors of one dimension: of others
it says "failed to legalize operation 'chlo.broadcast_divide'". Other differences, which are not drawn: it makes 0 of a
NaN and i32's greatest of -inf, which StableHLO does not define; it keeps unsigned storage in signed integers, where 128
and more saturate; it subtracts zero points as i32, which wraps, where the quant dialect subtracts floats.
"""

import numpy as np
import pytest

import qrt
from tests.oracle import stablehlo
from tests.oracle.draw_types import Draw

pytestmark = stablehlo.needed

STORAGES = {
    "i8": "i8",
    "i8<-127:127>": "i8",
    "u8<3:127>": "i8",
    "i16": "i16",
    "u16<0:32767>": "i16",
    "i32<-8388608:8388607>": "i32",
}
COUNT = 24
DTYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32}


def type_text(draw, storage, axis):
    bare = qrt.parse_type(f"!quant.uniform<{storage}:f32, 1.0>")
    low, high = bare.storage_min, bare.storage_max

    def pair():
        scale = draw.choice(["0.5", "0.1", "1.0", "3.0", f"{draw.uniform(0.001, 9):.6f}"])
        return f"{scale}:{draw.choice([max(low, 0), low, high, draw.randint(low, high)])}"

    if axis is None:
        return f"!quant.uniform<{storage}:f32, {pair()}>"
    return f"!quant.uniform<{storage}:f32:{axis}, {{{', '.join(pair() for _ in range(COUNT))}}}>"


def operands(draw, t, beyond):
    """Ties and their neighbours, within the storage type and beyond it."""
    rng = np.random.default_rng(draw.getrandbits(32))
    steps = rng.integers(t.storage_min, t.storage_max, COUNT, endpoint=True).astype(np.float64)
    steps += rng.choice([0, 0.5, -0.5, 0.25], COUNT)
    x = ((steps - np.array(t.zero_points)) * np.array(t.scales)).astype(np.float32)
    x = np.where(rng.random(COUNT) < 0.3, np.nextafter(x, np.float32(draw.choice([-np.inf, np.inf]))), x)
    hostile = np.float32([np.inf, -np.inf, 1e30, -1e30, 0.0, -0.0] if beyond else [0.0, -0.0, 1e-45])
    return np.where(rng.random(COUNT) < 0.2, rng.choice(hostile, COUNT), x)


@pytest.mark.parametrize("axis", [None, 0])
@pytest.mark.parametrize("storage", STORAGES)
def test_quantize_and_dequantize(storage, axis):
    draw = Draw(f"{storage} {axis}")
    signless = STORAGES[storage]
    for _ in range(10):
        text = type_text(draw, storage, axis)
        t = qrt.parse_type(text)
        x = operands(draw, t, beyond=signless != "i32")
        ours = qrt.qcast(x, t, rounding="half_even", zero_point="before", scale="divide")
        theirs = stablehlo.quantized(x, text, signless).view(ours.storage.dtype)
        np.testing.assert_array_equal(ours.storage, theirs, text)
        back = stablehlo.dequantized(ours.storage.view(DTYPES[signless]), text, signless)
        np.testing.assert_array_equal(qrt.dcast(ours).view(np.uint32), back.view(np.uint32), text)


def test_a_nan_is_the_difference():
    x = np.full(2, np.nan, np.float32)
    text = "!quant.uniform<i8:f32, 0.5:3>"
    assert stablehlo.quantized(x, text, "i8").tolist() == [0, 0]
    assert qrt.qcast(x, qrt.parse_type(text)).storage.tolist() == [3, 3]
