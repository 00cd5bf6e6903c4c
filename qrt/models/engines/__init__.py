"""Engines, which run LiteRT and ONNX Runtime to compare qrt with them.

Each engine is a child process with limits of time and memory.
"""
