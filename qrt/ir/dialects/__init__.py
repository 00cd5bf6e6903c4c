"""One module per dialect: its ops, their verifiers and their custom syntax."""
