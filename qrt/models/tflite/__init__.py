"""Reading, checking and importing of TFLite files."""
