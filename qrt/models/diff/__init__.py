"""Comparison of a model imported by qrt with the runtime that the import imitates (LiteRT or ONNX Runtime)."""
