"""The functions that import operators of ONNX, by subject. `registry` lists them by operator."""
