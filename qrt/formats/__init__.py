"""File formats, in and out: a file for each."""

from qrt.formats.programs import load
from qrt.formats.tensors import load_tensors, save_tensors

__all__ = ["load", "load_tensors", "save_tensors"]
