"""The functions that export operations as ONNX nodes, by subject. `registry` lists them by operation."""
