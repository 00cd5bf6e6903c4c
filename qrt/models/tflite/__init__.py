"""TFLite files: read, checked, imported."""
