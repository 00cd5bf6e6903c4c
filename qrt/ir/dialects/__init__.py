"""One package per MLIR dialect: its `ops.py` defines the ops, with their verifiers and custom syntax."""
