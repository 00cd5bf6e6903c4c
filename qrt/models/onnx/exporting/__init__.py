"""The export of programs as QDQ models, in which quantized operations are float operators between casts.

The casts are DequantizeLinear before the operator and QuantizeLinear after it.
"""
