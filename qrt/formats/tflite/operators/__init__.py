"""The operators of TFLite, by subject. A file is found by its line here."""

from qrt.formats.tflite.operators import (  # noqa: F401 - each registers its operators
    activations,
    arithmetic,
    arithmetic_plain,
    casts,
    control,
    convolution,
    dense,
    functions,
    matmul,
    movement,
    pooling,
    recurrent,
    reductions,
    shapes,
    transpose_conv,
)
