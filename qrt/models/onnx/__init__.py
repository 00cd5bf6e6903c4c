"""ONNX models: reading their files, importing them as programs, and exporting programs."""
