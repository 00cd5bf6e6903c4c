"""L2_POOL_2D and LOCAL_RESPONSE_NORMALIZATION. Hazards: windows that an edge cuts; sums that run along the channels and
lose digits; powers that are roots or inverses; more neighbours than channels."""

from tests.models.beside import Case
from tests.models.tflite.generated import draw
from tests.models.tflite.writing import Tensor, one_op

_RUNS = 4


def l2_pool(rng):
    padding, window = str(rng.choice(["SAME", "VALID"])), [int(n) for n in rng.integers(1, 6, 2)]
    image = [int(rng.integers(n, n + 14)) for n in window]
    strides = [int(n) for n in rng.integers(1, 4, 2)]
    without = [0, 0] if padding == "SAME" else [n - 1 for n in window]
    result = [-(-(i - k) // s) for i, k, s in zip(image, without, strides, strict=True)]
    depth = draw.size(rng)
    x, y = Tensor((1, *image, depth), "float32"), Tensor((1, *result, depth), "float32")
    options = {
        "padding": padding, "stride_h": strides[0], "stride_w": strides[1], "filter_height": window[0],
        "filter_width": window[1], "fused_activation_function": draw.activation(rng),
    }  # fmt: skip
    runs = [[rng.normal(size=x.shape).astype("float32")] for _ in range(_RUNS)]
    return Case(one_op("L2_POOL_2D", [x], [y], options), runs, ulp=0)


def local_response(rng):
    shape = draw.shape(rng, 4)
    options = {
        "radius": int(rng.integers(0, 8)), "bias": float(rng.uniform(0.5, 3)), "alpha": float(rng.uniform(0, 2)),
        "beta": float(rng.choice([0.5, 0.75, 1.0, rng.uniform(0.1, 2)])),
    }  # fmt: skip
    runs = [[(rng.normal(size=shape) * 2.0 ** rng.integers(-6, 4)).astype("float32")] for _ in range(_RUNS)]
    content = one_op("LOCAL_RESPONSE_NORMALIZATION", [Tensor(shape, "float32")], [Tensor(shape, "float32")], options)
    return Case(content, runs)


CASES = {"L2_POOL_2D float32": l2_pool, "LOCAL_RESPONSE_NORMALIZATION float32": local_response}
