"""Models of one operator, in qrt, LiteRT and ONNX Runtime."""
