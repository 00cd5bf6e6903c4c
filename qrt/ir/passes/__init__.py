"""Passes, a file or a folder each; `qrt.ir.pipeline` knows them by name and runs them."""
