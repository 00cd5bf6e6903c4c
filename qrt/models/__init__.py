"""File formats, in and out: a file for each. Tensors are in `tensors`, programs out of files in `programs`."""
