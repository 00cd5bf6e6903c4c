"""The export of programs as QDQ models: operations are float operators between QuantizeLinear and DequantizeLinear."""
