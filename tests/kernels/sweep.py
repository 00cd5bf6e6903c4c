"""`python -m tests.kernels.sweep ISA,... ENTRY...` runs the calls of sizes.py: ref against plain NumPy, other ISAs
against ref, each twice, into results that hold different bytes before, so that what a kernel leaves out is seen. With
guard.c preloaded what is allocated lies directly before and behind an inaccessible page by turns.

test_sizes.py starts it and reads what it prints. A crash ends this process alone: its last case stands in the file that
QRT_SWEEP_CASE names."""

import ctypes
import json
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from qrt._ext import kernels as kernel_calls
from qrt.errors import KernelError
from tests.kernels import guard
from tests.kernels.draws import Array, isas_by_rows
from tests.kernels.size_cases import Case
from tests.kernels.sizes import ENTRIES

FILLS = (0x55, 0xAA)
# What binding refuses of the table.
REFUSED = ("would contain padding alone", "expected a sum of at least one element")

PRODUCT_ROWS = {"gemm", "depthwise", "mixed_row", "mixed_tile"}
WITHOUT_PRODUCTS = {
    "qcast", "dcast", "requantize", "clamp", "binary", "pair", "leaky_relu", "lookup", "lookup_interpolated",
    "avg_pool2d", "max_pool2d", "mean", "softmax", "copy", "pack_bits", "unpack_bits", "gather", "slice", "extremum",
    "top_k", "resize_bilinear", "plain", "plain_select", "plain_cast",
}  # fmt: skip
"""Entries that reach no row of PRODUCT_ROWS: ISAs that differ in these alone run the same code."""


def isas_for(entry: str, isas: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the ISAs whose code for an entry is not that of an ISA before them."""
    others = isas_by_rows(*(row for row in kernel_calls.rows() if row not in PRODUCT_ROWS))
    return tuple(isa for isa in isas if entry not in WITHOUT_PRODUCTS or isa in others)


def bound(case: Case, isa: str, **more: str) -> kernel_calls.KernelCall:
    """Copies, slices and gathering have no ISA."""
    where = {} if case.entry in ("copy", "slice", "gather") else {"isa": isa}
    call: kernel_calls.KernelCall = getattr(kernel_calls, f"bind_{case.entry}")(**where, **case.given, **more)
    return call


def calls_of(case: Case, isa: str) -> list[kernel_calls.KernelCall]:
    """With the microkernel that suits, and with each other that takes it."""
    chosen = bound(case, isa)
    if chosen.microkernel is None:
        return [chosen]
    others = (
        bound(case, isa, microkernel=name) for name in kernel_calls.microkernels(isa) if name != chosen.microkernel
    )
    return [chosen, *(call for call in others if call.microkernel != chosen.microkernel)]


def answer(call: kernel_calls.KernelCall, operands: tuple[Array, ...], fill: int = FILLS[0]) -> Array:
    """The result, or all of several in one line."""
    written = zip(call.operand_shapes[-call.outputs :], call.operand_dtypes[-call.outputs :], strict=True)
    outs = [np.empty(*each) for each in written]
    for out in outs:
        out.reshape(-1).view(np.uint8)[...] = fill
    call(*map(np.asarray, operands), *outs)
    return outs[0] if len(outs) == 1 else np.concatenate([out.ravel() for out in outs], dtype=dtype_of(call))


def answers_in_place(call: kernel_calls.KernelCall, operands: tuple[Array, ...]) -> Iterator[tuple[Array, Array]]:
    """The result written over each operand that may be, and over both of two that are one array; what it must be."""
    for place in call.in_place:
        held = [np.array(operand) for operand in operands]
        out = held[place].reshape(-1).view(call.operand_dtypes[-1]).reshape(call.operand_shapes[-1])
        expected = answer(call, operands)
        call(*held, out)
        yield out, expected
    if len(operands) == 2 and call.in_place == (0, 1) and call.operand_dtypes[0] == call.operand_dtypes[1]:
        both = np.array(operands[0]).reshape(call.operand_shapes[-1])
        expected = answer(call, (both, both))
        out = both.reshape(-1).view(call.operand_dtypes[-1]).reshape(call.operand_shapes[-1])
        call(both, both, out)
        yield out, expected


def dtype_of(call: kernel_calls.KernelCall) -> np.dtype[Any]:
    """The dtype of the result, or one that holds the values of all results."""
    return np.result_type(*call.operand_dtypes[-call.outputs :])


def differing(got: Array, expected: Array) -> str | None:
    """How the bits of a result are wrong."""
    if got.tobytes() == expected.tobytes():
        return None
    if got.size != expected.size:
        return f"the shape {got.shape} is not {expected.shape}"
    wrong = got.reshape(-1).view(f"u{got.itemsize}") != expected.reshape(-1).view(f"u{got.itemsize}")
    first = int(np.argmax(wrong))
    return f"{wrong.sum()} of {wrong.size} wrong, {got.flat[first]} is not {expected.flat[first]} at {first}"


def check(case: Case, isas: tuple[str, ...], place: Callable[[int], None]) -> tuple[list[str], bool]:
    """What is wrong with a case, and whether binding refuses it."""
    kernel_calls.set_num_threads(case.threads)
    try:
        reference = bound(case, "ref")
    except KernelError as error:
        return [wrong for isa in isas for wrong in [differing_refusal(case, isa, str(error))] if wrong], True
    expected = {isa != "ref": answer(reference, case.operands) for isa in isas if isa != "ref"}
    if "ref" in isas:
        expected[False] = np.asarray(case.expected()).astype(dtype_of(reference))
    found = []
    for number, isa in enumerate(isas):
        place(number)
        for call in [reference] if isa == "ref" else calls_of(case, isa):
            answers = (differing(answer(call, case.operands, fill), expected[isa != "ref"]) for fill in FILLS)
            found += [f"{isa} {call.microkernel or ''}: {wrong}" for wrong in answers if wrong][:1]
            for got, separate in answers_in_place(call, case.operands):
                found += [f"{isa} in place: {wrong}" for wrong in [differing(got, separate)] if wrong]
    return found, False


def differing_refusal(case: Case, isa: str, message: str) -> str | None:
    """What is wrong with a case that ref refuses by this message."""
    if not any(text in message for text in REFUSED):
        return f"ref refuses: {message}"
    try:
        bound(case, isa)
    except KernelError as error:
        return None if str(error) == message else f"{isa}: {error}, but by ref {message}"
    return f"{isa}: bound, but by ref {message}"


def placement() -> Callable[[int], None]:
    """What moves later allocations before or behind a page, by whether a number is odd; nothing without guard.c."""
    if "QRT_GUARD_LIBRARY" not in os.environ:
        return lambda number: None
    guard.install()
    library = ctypes.CDLL(os.environ["QRT_GUARD_LIBRARY"])
    library.guard_place.argtypes = [ctypes.c_bool]
    return lambda number: library.guard_place(number % 2 == 1)


def sizes_of(value: Any) -> Iterator[Any]:
    """The integers of an argument, with their places."""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        yield int(value)
    elif isinstance(value, (tuple, list)) and len(value) <= 8:
        for place, inside in enumerate(value):
            yield from ((place, size) for size in sizes_of(inside))


def main(chosen: str, *entries: str) -> int:
    isas = tuple(chosen.split(","))
    seen: set[Any] = set()
    wrong: list[str] = []
    cases = refusals = 0
    place = placement()
    where = os.open(os.environ.get("QRT_SWEEP_CASE", os.devnull), os.O_WRONLY)
    for name in entries:
        suiting = isas_for(name, isas)
        for case in ENTRIES[name]():
            os.pwrite(where, f"{case}\n".encode().ljust(4096)[:4096], 0)
            seen |= {(name, argument, size) for argument, value in case.given.items() for size in sizes_of(value)}
            found, refused = check(case, suiting, lambda number, case=cases: place(number + case))
            wrong += [f"{case}: {text}" for text in found]
            cases, refusals = cases + 1, refusals + refused
    print(*wrong[:20], sep="\n", file=sys.stderr)
    print(json.dumps({"entries": len(entries), "isas": len(isas), "cases": cases, "refused": refusals,
                      "sizes": len(seen), "wrong": len(wrong)}))  # fmt: skip
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
