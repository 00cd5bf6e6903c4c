"""The operators of ONNX, by subject: `registry` says which function imports which operator."""
