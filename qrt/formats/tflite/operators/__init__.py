"""The operators of TFLite, by subject. A file is found by its line here."""

from qrt.formats.tflite.operators import (  # noqa: F401 - each registers its operators
    arithmetic,
    casts,
    convolution,
    dense,
    functions,
    movement,
    pooling,
    reductions,
)
