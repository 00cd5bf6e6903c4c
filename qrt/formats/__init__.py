"""File formats, in and out: a file for each."""

from qrt.formats.tensors import load_tensors, save_tensors

__all__ = ["load_tensors", "save_tensors"]
