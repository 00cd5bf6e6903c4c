"""ONNX models: the reader of their files, the import as programs, and the export of programs."""
