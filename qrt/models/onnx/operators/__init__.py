"""The functions that import ONNX operators, by subject. `registry` lists them by operator.

Each function takes a node, adds operations to the program, and sets the node's outputs.
"""
