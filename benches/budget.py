"""The time that a run of benches may take, and the peers that are too slow for it."""

import time
from collections.abc import Callable, Iterator, Mapping

SLOWEST = 50.0
"""The ratio to the fastest result from which a peer is dropped: it would take most of the time and say nothing more."""
LEAST_ROUNDS = 3
MINUTES = 18
"""The budget of a run. The rest of 20 minutes is for the last case, which has its least rounds, and for the page."""


class Budget:
    """Seconds that are shared equally by the items that are still to be measured.

    An item that takes less than its share leaves the rest to the others, and one that takes more takes it from them.
    """

    def __init__(self, seconds: float, items: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.items, self.clock = items, clock
        self.end = clock() + seconds

    def deadline(self) -> float | None:
        """Return the time at which the next item has used up its share; None if no time is left."""
        now, items = self.clock(), self.items
        self.items -= 1
        return None if now >= self.end else now + (self.end - now) / items

    def rounds(self, deadline: float, most: int) -> Iterator[int]:
        """Yield the numbers of rounds until the deadline, at least ``LEAST_ROUNDS`` and at most ``most``."""
        for turn in range(most):
            if turn >= LEAST_ROUNDS and self.clock() >= deadline:
                return
            yield turn


def dropped_peers(first_calls: Mapping[str, float], own: str) -> dict[str, str]:
    """Return the peers that are not timed, with the reason. Of each peer the shortest first call is given in seconds.

    Peers with the prefix ``own`` are qrt's, which are timed however slow they are.

    >>> dropped_peers({"qrt_fixed": 1e-3, "numpy": 2e-3, "torch_x86": 0.9}, "qrt")
    {'torch_x86': 'dropped: its first calls took 900 times those of qrt_fixed'}
    """
    if not first_calls:
        return {}
    best = min(first_calls, key=lambda name: first_calls[name])
    ratios = {name: seconds / max(first_calls[best], 1e-9) for name, seconds in first_calls.items()}
    return {
        name: f"dropped: its first calls took {ratio:,.0f} times those of {best}"
        for name, ratio in ratios.items()
        if ratio >= SLOWEST and not name.startswith(own)
    }
