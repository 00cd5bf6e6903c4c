"""A pytest plugin: every array that NumPy allocates lies between inaccessible pages (guard.c), those that the seam
makes of parameters and weights included. The library's path is in QRT_GUARD_LIBRARY; it is preloaded, so that the
kernels' own memory is guarded too."""

import ctypes
import os

import numpy as np

SET_HANDLER = 304  # PyDataMem_SetHandler, of the table of NumPy's C interface
KEPT: list[ctypes.Structure] = []  # NumPy holds their addresses


class Allocator(ctypes.Structure):
    """PyDataMemAllocator."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("context", "malloc", "calloc", "realloc", "free")]


class Handler(ctypes.Structure):
    """PyDataMem_Handler."""

    _fields_ = [("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("allocator", Allocator)]


def capsule_functions() -> tuple[ctypes._CFuncPtr, ctypes._CFuncPtr]:
    new, pointer = ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_GetPointer
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return new, pointer


def install() -> None:
    """Makes guard.c the allocator of this thread's arrays."""
    library = ctypes.CDLL(os.environ["QRT_GUARD_LIBRARY"])
    functions = (ctypes.cast(getattr(library, f"guard_{name}"), ctypes.c_void_p).value
                 for name in ("malloc", "calloc", "realloc", "free"))  # fmt: skip
    handler = Handler(b"guard", 1, Allocator(None, *functions))
    new, pointer = capsule_functions()
    api = pointer(np._core._multiarray_umath._ARRAY_API, None)
    address = ctypes.cast(api, ctypes.POINTER(ctypes.c_void_p))[SET_HANDLER]
    ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(address)(new(ctypes.addressof(handler), b"mem_handler", None))
    KEPT.append(handler)


def pytest_configure() -> None:
    install()
