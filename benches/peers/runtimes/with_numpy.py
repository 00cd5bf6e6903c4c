"""Casts by NumPy, a pass over the array for each step."""

import numpy as np

from benches.peers.cases import Case
from benches.peers.runtimes.peer import Peer


def casts(case: Case, threads: int) -> Peer | None:
    if threads != 1 or case.kind not in ("qcast", "dcast"):
        return None
    d, zero_point = case.d, case.d["zb"].astype(np.float32)
    if case.kind == "dcast":
        values = np.empty(d["x"].shape, np.float32)

        def dcast() -> None:
            np.subtract(d["x"], zero_point, out=values, dtype=np.float32)
            np.multiply(values, d["sb"], out=values)

        return Peer(dcast, lambda: values)
    inverse, between = (1 / d["sb"]).astype(np.float32), np.empty_like(d["x"])
    storage = np.empty(between.shape, np.int8)

    def qcast() -> None:
        np.multiply(d["x"], inverse, out=between)
        np.rint(between, out=between)
        np.add(between, zero_point, out=between)
        np.clip(between, -128, 127, out=between)
        np.copyto(storage, between, casting="unsafe")

    return Peer(qcast, lambda: storage)
