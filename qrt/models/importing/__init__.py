"""Code shared by the TFLite and ONNX importers: graphs, operators, and functions that append IR operations."""
