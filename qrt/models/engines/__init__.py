"""Engines: LiteRT and ONNX Runtime, to compare qrt with, each in a child process with limits of time and memory."""
