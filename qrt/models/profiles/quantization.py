"""Rules of float operators for programs that will be quantized: the forms that the pass `fuse-kernels` recognises."""

from dataclasses import replace

from qrt.models.profiles.model import Profile, Row

_ROWS = (
    Row("float_products", "bias_then_fma"),
    Row("float_average_pool", "in_order"),
    Row("float_sum", "in_order"),
    Row("float_average", "divide"),
    Row("float_softmax", "in_order"),
    Row("float_logistic", "whole"),
    Row("hybrid", "floats"),
)


def for_kernels(profile: Profile) -> Profile:
    """A profile with other rules of floats: sums in the plain order of their loops, quotients by a division, and stored
    weights of float operators as floats.

    >>> from qrt.models.profiles.litert import LITERT
    >>> for_kernels(LITERT).find("float_softmax").rule
    'in_order'
    """
    return replace(profile, rows=(*_ROWS, *profile.rows))
