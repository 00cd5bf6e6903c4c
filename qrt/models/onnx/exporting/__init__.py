"""Programs as QDQ models of ONNX: each op becomes float operators between DequantizeLinear and QuantizeLinear."""
