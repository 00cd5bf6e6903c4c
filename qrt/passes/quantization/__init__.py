"""Quantization of float programs: regions, specifications, propagation and export, by the propagation RFC
(docs/quantization.md). One file for each pass.
"""
