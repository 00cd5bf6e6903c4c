"""Steps of quantization that are measured on a sample: calibration, optional passes, bias correction, checkpoints."""
