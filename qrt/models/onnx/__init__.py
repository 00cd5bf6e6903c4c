"""Models of ONNX: read from a file, checked, and imported as a program."""
