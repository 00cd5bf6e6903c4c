"""Import functions of TFLite's operators, by subject. `registry` maps each operator to its function."""
