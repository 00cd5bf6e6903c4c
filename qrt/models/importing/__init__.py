"""Code that the TFLite and ONNX importers share: graphs, nodes, and the IR that operators become."""
