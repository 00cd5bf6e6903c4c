"""`python -m tests.kernels.failures ISA,...`, with failing.c preloaded: binds and calls cases of sizes.py with each of
their allocations failing in turn, then again with none. An attempt is a thread of its own, which has no workspace yet.

A failure must be a MemoryError; afterwards results must be right. Prints what it tried."""

import ctypes
import json
import os
import sys
import threading
from typing import Any

import numpy as np

from qrt._ext.kernels import set_num_threads
from qrt.errors import KernelError
from tests.kernels.draws import Array
from tests.kernels.size_cases import Case
from tests.kernels.sizes import ENTRIES
from tests.kernels.sweep import answer, bound

# Doctest collection imports this file without the variable: LIBRARY is the process then, which has no such functions.
LIBRARY = ctypes.CDLL(os.environ.get("QRT_FAILING_LIBRARY"))
# Looked at of each entry, and how many of these that allocate as often.
LOOKED_AT, ALIKE = 60, 3


class Attempt:
    """A case with allocation `number` failing (0: none): what came of it, and of the same call afterwards."""

    def __init__(self, case: Case, isa: str, number: int) -> None:
        self.case, self.isa, self.number = case, isa, number
        self.error: BaseException | None = None
        self.out: Array | None = None
        self.afterwards: Array | None = None
        self.allocations = 0
        thread = threading.Thread(target=self.run)
        thread.start()
        thread.join()

    def run(self) -> None:
        call = None
        LIBRARY.failing_arm(ctypes.c_long(self.number))
        try:
            call = bound(self.case, self.isa)
            self.out = answer(call, self.case.operands)
        except BaseException as error:  # whatever it is, the main thread looks at it
            self.error = error
        finally:
            self.allocations = LIBRARY.failing_count()
        self.afterwards = answer(call or bound(self.case, self.isa), self.case.operands)

    def wrong(self, expected: Array) -> str | None:
        failed = 0 < self.number <= self.allocations
        where = f"{self.isa}, {self.case}, allocation {self.number}"
        if failed and self.error is None and self.case.threads == 1:
            return f"{where}: no error"
        if self.error is not None and not (failed and type(self.error) is MemoryError):
            return f"{where}: {self.error!r}"
        for out in (self.out, self.afterwards):
            if out is not None and out.tobytes() != expected.tobytes():
                return f"{where}: wrong bits"
        return None if self.afterwards is not None else f"{where}: no result afterwards"


def chosen(name: str) -> list[Case]:
    cases = list(ENTRIES[name]())
    return cases[:: max(1, len(cases) // LOOKED_AT)] + [case for case in cases if case.threads > 1][-1:]


def main(names: str) -> int:
    counts = {"entries": len(ENTRIES), "cases": 0, "failures": 0}
    wrong: list[str] = []
    for isa in names.split(","):
        for name in ENTRIES:
            alike: dict[Any, int] = {}
            for case in chosen(name):
                set_num_threads(case.threads)
                try:
                    bound(case, isa)
                except KernelError:
                    continue
                whole = Attempt(case, isa, 0)
                key = whole.allocations, case.threads
                alike[key] = alike.get(key, 0) + 1
                if whole.out is None or alike[key] > ALIKE:
                    wrong += [f"{case}: {whole.error!r}"] if whole.out is None else []
                    continue
                counts["cases"] += 1
                attempts = [Attempt(case, isa, number) for number in range(1, whole.allocations + 1)]
                counts["failures"] += sum(attempt.error is not None for attempt in attempts)
                wrong += [text for text in (attempt.wrong(whole.out) for attempt in attempts) if text]
            if not np.any(list(alike.values())):
                wrong.append(f"{name}: no case")
    print(*wrong[:20], sep="\n", file=sys.stderr)
    print(json.dumps(counts | {"wrong": len(wrong)}))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
