"""What an exact result, or one of quantized values, costs beyond NumPy's on the same bytes: causes, and their limits.

A call may cost `MOST` microseconds more than NumPy's, whatever its size. A limit here is a ratio to NumPy's time for
many elements, where that allows more."""

from dataclasses import dataclass

MOST = 20
"""Microseconds: a rule of Python, the type of the result and the tensor around it."""


@dataclass(frozen=True)
class Limits:
    """The calls of one cause; for each the greatest ratio, and for all the microseconds that are allowed."""

    reason: str
    calls: dict[str, float]
    microseconds: int = MOST


LIMITS = {
    "WIDE": Limits(
        "The result is exact in 32 bits, four bytes for each of NumPy's, whose int8 wraps.",
        {
            "np.add(x, y)": 5.5,
            "np.subtract(x, y)": 5.5,
            "np.multiply(x, y)": 5.5,
            "np.square(x)": 5.5,
            "np.diff(x)": 4.5,
            "np.ediff1d(x)": 7.5,
            "np.kron(w, k)": 2.0,
            "np.cross(u, u)": 2.0,
        },
    ),
    "ZERO": Limits(
        "Elements are compared with the zero point first, which is a pass for each operand.",
        {
            "np.logical_and(x, y)": 4.5,
            "np.logical_or(x, y)": 4.5,
            "np.logical_xor(x, y)": 4.5,
            "np.logical_and.reduce(x)": 1.6,
            "np.logical_or.reduce(x)": 1.6,
            "np.logical_xor.reduce(x)": 1.6,
            "np.count_nonzero(x)": 2.5,
            "np.any(x)": 1.8,
            "np.all(x)": 1.8,
        },
    ),
    "ORDER": Limits(
        "Elements are sorted whole: NumPy's partition differs between CPUs.",
        {"np.partition(x, 1)": 2.0, "np.argpartition(x, 1)": 2.2},
    ),
    "ROUNDED": Limits(
        "The sum of squares is exact, in integers of up to 128 bits, and its root is rounded once to float64.",
        {"np.std(x, axis=0)": 1.7},
    ),
    "LABELS": Limits(
        "In each call, Python code derives the type of the result from the labels of the axes.",
        dict.fromkeys(
            (
                'np.einsum("ij,kj->ik", x, y)',
                "np.inner(w, w)",
                "np.linalg.outer(w, w)",
                "np.linalg.tensordot(x, y, axes=1)",
                "np.linalg.vecdot(x, y)",
                "np.matvec(x, w)",
                "np.multiply.outer(w, w)",
                "np.outer(w, w)",
                "np.tensordot(x, y, 1)",
                "np.vdot(v, v)",
                "np.vecdot(x, y)",
                "np.vecmat(w, x)",
            ),
            1.1,
        ),
        60,
    ),
    "TEXT": Limits(
        "The text is of the values, which are floats and longer than the integers.",
        {"np.array2string(x)": 2.7, "np.array_repr(x)": 2.7, "np.array_str(x)": 2.7, "np.savetxt(file, x[:1])": 2.0},
        60,
    ),
    "FILLED": Limits(
        (
            "The result is filled with zero points, because memory that is not filled might be outside "
            "the bounds of the type."
        ),
        {"np.empty_like(x)": 12.0, "np.imag(x)": 3.6},
    ),
    "PARTS": Limits("A tensor is made for each row.", {"np.unstack(x)": 3.2}),
}
"""By the word that the bench prints."""


def limit_of(call: str) -> tuple[str, float, int]:
    """Return (cause, ratio, microseconds); of a call without a cause no limit but `MOST`."""
    for cause, limits in LIMITS.items():
        if call in limits.calls:
            return cause, limits.calls[call], limits.microseconds
    return "", 0.0, MOST
