"""A package for each dialect: `ops.py` holds its ops, with their verifiers and their custom syntax."""
