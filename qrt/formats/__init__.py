"""File formats, in and out: a file for each. Programs out of files are in `programs`."""

from qrt.formats.tensors import load_tensors, save_tensors

__all__ = ["load_tensors", "save_tensors"]
