"""The operators of TFLite, by subject. A file is found by its line here."""

from qrt.formats.tflite.operators import (  # noqa: F401 - each registers its operators
    activations,
    arithmetic,
    casts,
    convolution,
    dense,
    functions,
    matmul,
    movement,
    pooling,
    reductions,
    transpose_conv,
)
