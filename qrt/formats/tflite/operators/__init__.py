"""The operators of TFLite, by subject. A file is found by its line here."""

from qrt.formats.tflite.operators import (  # noqa: F401 - each registers its operators
    activations,
    arithmetic,
    arithmetic_plain,
    blocks,
    casts,
    control,
    convolution,
    dense,
    extremes,
    functions,
    gathering,
    matmul,
    movement,
    pooling,
    recurrent,
    reductions,
    resizing,
    shapes,
    slicing,
    transpose_conv,
)
