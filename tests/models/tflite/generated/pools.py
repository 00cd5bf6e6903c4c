"""AVERAGE_POOL_2D and MAX_POOL_2D. Hazards: means that lie halfway, of sums of either sign; windows that an edge of the
image cuts, which count what they hold."""

from functools import partial

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import one_op


def pool(rng, name, *, dtype="int8", is_global=False):
    padding = str(rng.choice(["SAME", "VALID"]))
    window = [int(each) for each in rng.integers(1, 6, 2)]
    image = [int(rng.integers(each, each + 14)) for each in window]
    strides = [int(each) for each in rng.integers(1, 4, 2)]
    if is_global:
        padding, window, strides = "VALID", image, [1, 1]
    kept = [0, 0] if padding == "SAME" else [each - 1 for each in window]
    result = [-(-(i - k) // s) for i, k, s in zip(image, kept, strides, strict=True)]
    batch, depth = int(rng.choice([1, 1, 2])), draw.size(rng)
    if is_global:
        batch, depth = int(rng.integers(1, 9)), depth * int(rng.integers(1, 6))
    x = draw.tensor(rng, (batch, *image, depth), dtype)
    y = draw.tensor(rng, (batch, *result, depth), dtype, x.scales, zero_points=x.zero_points)
    options = {
        "padding": padding,
        "stride_h": strides[0],
        "stride_w": strides[1],
        "filter_height": window[0],
        "filter_width": window[1],
        "fused_activation_function": draw.activation(rng),
    }
    return Case(one_op(name, [x], [y], options, version=2))


CASES = {
    f"{name} {short}{label}": partial(pool, name=name, dtype=dtype, **options)
    for name in ("AVERAGE_POOL_2D", "MAX_POOL_2D")
    for short, dtype in (("i8", "int8"), ("u8", "uint8"), ("i16", "int16"))
    for label, options in (("", {}), (", global", {"is_global": True}))
}
