"""The instruction sets (ISAs) of this build and this CPU: functions that list them and choose the one that runs.

All ISAs give bit-identical results. An ISA can be forced for tests and measurements, and to see how another machine
would behave. ``ref`` is the scalar reference, which exists on every machine.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache

from qrt._ext import kernels as kernel_calls
from qrt.errors import KernelError, shown

__all__ = ["active", "available", "coverage", "get_num_threads", "set_num_threads", "use"]

forced_isa: ContextVar[str | None] = ContextVar("qrt_isa", default=None)


def available() -> tuple[str, ...]:
    """Return the instruction sets for which this build has kernels, and which this CPU can run. The fastest is last.

    The first is ``"ref"``.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> available()[0]
    'ref'
    """
    return kernel_calls.isas()


def coverage() -> dict[str, dict[str, str | None]]:
    """Return the origin of each kernel's code, as ``{instruction set: {kernel: instruction set of the code}}``.

    An instruction set without its own version of a kernel uses the version of its parent, up to ``"ref"``. The value is
    None if neither the instruction set nor any of its parents has a version of the kernel; some kernels are optional.
    The result has all instruction sets of this build, parents first, even if this CPU cannot run them.

    Returns
    -------
    dict of dict of str or None

    Examples
    --------
    >>> coverage()["ref"]["store"]
    'ref'
    """
    suppliers: dict[str, dict[str, str | None]] = {}
    for name, parent, own in kernel_calls.built_isas():
        inherited = suppliers.get(parent) or dict.fromkeys(kernel_calls.rows())
        suppliers[name] = inherited | dict.fromkeys(own, name)
    return suppliers


def active() -> str:
    """Return the instruction set that new calls are bound to.

    It is the instruction set that ``use`` forces; else the one in the environment variable ``QRT_ISA``, which is read
    once; else the fastest one.

    Returns
    -------
    str
        One of ``available()``.

    Raises
    ------
    KernelError
        If this machine does not have the instruction set that ``QRT_ISA`` names.

    Examples
    --------
    >>> active() in available()
    True
    """
    return forced_isa.get() or _default()


@cache
def _default() -> str:
    return _checked(os.environ.get("QRT_ISA") or available()[-1], "QRT_ISA: ")


def get_num_threads() -> int:
    """Return the largest number of threads that a kernel uses.

    It is the number that `set_num_threads` set last; else the environment variable ``QRT_NUM_THREADS``; else the number
    of processors that this process may run on.

    Returns
    -------
    int

    Raises
    ------
    KernelError
        If ``QRT_NUM_THREADS`` is not a number from 1 to 256.

    Examples
    --------
    >>> get_num_threads() >= 1
    True
    """
    return kernel_calls.get_num_threads()


def set_num_threads(threads: int) -> None:
    """Set the largest number of threads that a kernel may use, in the whole process. Results do not depend on it.

    Parameters
    ----------
    threads : int
        From 1 to 256, the calling thread among them.

    Raises
    ------
    KernelError
        If ``threads`` is another value.

    Examples
    --------
    >>> before = get_num_threads()
    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    >>> set_num_threads(before)
    """
    kernel_calls.set_num_threads(threads)


@contextmanager
def use(name: str) -> Iterator[None]:
    """Force an instruction set within a ``with`` block, only for this thread or ``asyncio`` task.

    Parameters
    ----------
    name : str
        One of ``available()``.

    Raises
    ------
    KernelError
        If this machine has no such instruction set.

    Examples
    --------
    >>> with use("ref"):
    ...     active()
    'ref'
    """
    token = forced_isa.set(_checked(name))
    try:
        yield
    finally:
        forced_isa.reset(token)


def _checked(name: str, source: str = "") -> str:
    if not isinstance(name, str) or name not in available():
        raise KernelError(
            f"{source}unknown ISA {shown(name)}, expected one that this machine has: {', '.join(available())}"
        )
    return name


def __dir__() -> list[str]:
    return __all__
