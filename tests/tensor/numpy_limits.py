"""What an exact result, or one of quantized values, costs beyond NumPy's on the same bytes: causes, and their limits.

A limit is a ratio to NumPy's time or microseconds beyond it, whichever allows more."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """The calls of one cause; for each the greatest ratio, and the microseconds that are allowed at any size."""

    reason: str
    calls: dict[str, tuple[float, float]]


LIMITS = {
    "WIDE": Limits(
        "The result is exact in 32 bits, four bytes for each of NumPy's, whose int8 wraps.",
        {
            "np.add(x, y)": (4.5, 0),
            "np.subtract(x, y)": (4.5, 0),
            "np.multiply(x, y)": (4.5, 0),
            "np.square(x)": (4.5, 0),
            "np.diff(x)": (3.5, 0),
            "np.ediff1d(x)": (6.0, 0),
            "np.outer(w, w)": (4.0, 0),
            "np.linalg.outer(w, w)": (3.5, 0),
            "np.multiply.outer(w, w)": (4.5, 0),
            "np.kron(w, k)": (1.5, 4),
            "np.cross(u, u)": (1.6, 4),
            "np.add.reduceat(x, [0, 2])": (1.7, 0),
        },
    ),
    "ZERO": Limits(
        "Elements are compared with the zero point first, which is a pass for each operand.",
        {
            "np.logical_and(x, y)": (3.5, 3),
            "np.logical_or(x, y)": (3.5, 3),
            "np.logical_xor(x, y)": (3.5, 3),
            "np.logical_and.reduce(x)": (1.3, 0),
            "np.logical_or.reduce(x)": (1.3, 0),
            "np.logical_xor.reduce(x)": (1.3, 0),
            "np.count_nonzero(x)": (2.1, 0),
            "np.any(x)": (1.5, 0),
            "np.all(x)": (1.5, 0),
        },
    ),
    "ORDER": Limits(
        "Elements are sorted whole: NumPy's partition differs between CPUs.",
        {"np.partition(x, 1)": (1.6, 0), "np.argpartition(x, 1)": (1.8, 0)},
    ),
    "ROUNDED": Limits(
        "A root of exact integers is rounded once to float64, by integers of 128 bits where results are few.",
        {
            "np.std(x, axis=0)": (1.4, 10),
            "np.linalg.norm(x)": (1.1, 6),
            "np.linalg.vector_norm(x)": (1.1, 4),
            "np.linalg.matrix_norm(x)": (1.1, 4),
        },
    ),
    "TABLE": Limits(
        "Each element is looked up in a table of 256, which is 16 shuffles where the CPU has AVX2 and no AVX-512.",
        {"np.absolute(x)": (6.0, 0), "np.sign(x)": (6.0, 0)},
    ),
    "TEXT": Limits(
        "The text is of the values, which are floats and longer than the integers.",
        {
            "np.array2string(x)": (2.2, 0),
            "np.array_repr(x)": (2.2, 0),
            "np.array_str(x)": (2.2, 0),
            "np.savetxt(file, x[:1])": (1.6, 0),
        },
    ),
    "FILLED": Limits(
        "Storage is within the bounds of its type: memory that nobody filled might not be, and zeros are zero points.",
        {"np.empty_like(x)": (10.0, 0), "np.imag(x)": (3.0, 0)},
    ),
    "EXACT": Limits(
        "Sums of products are exact: a kernel multiplies, and its integers are summed in 32 bits.",
        {"np.vecdot(x, y)": (1.1, 3), "np.linalg.vecdot(x, y)": (1.1, 3)},
    ),
    "QUANTIZED": Limits("A list of numbers is quantized.", {"np.place(z, m, [c])": (1.1, 3)}),
    "PARTS": Limits("A tensor is made for each row.", {"np.unstack(x)": (2.6, 0)}),
    "FEW": Limits(
        "Few elements are read, whatever the size, so that the limit is that of 16 elements; sums and products of them "
        "are exact, which takes steps of its own.",
        {
            "np.convolve(w, k)": (1.1, 3),
            "np.correlate(w, k)": (1.1, 3),
            "np.multiply.reduce(x[:3])": (1.1, 3),
            "np.linalg.multi_dot([k, x[:4, :4], k])": (1.1, 5),
            "np.inner(w, w)": (1.1, 3),
            "np.diag(x)": (1.1, 2),
            "np.common_type(x)": (1.1, 2),
            "np.result_type(x, x)": (1.1, 2),
            'np.einsum_path("ij,kj->ik", x, y)': (1.1, 3),
        },
    ),
}
"""By the word that the bench prints."""


def limit_of(call: str) -> tuple[str, float, float]:
    """(cause, ratio, microseconds); of a call without a cause no limit but the goal."""
    for cause, limits in LIMITS.items():
        if call in limits.calls:
            return cause, *limits.calls[call]
    return "", 0.0, 0.0
