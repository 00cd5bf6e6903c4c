"""Passes, one file or folder each; `qrt.ir.pipeline` lists them by name and runs them."""
