"""Core of the IR: operations, values, attributes, op definitions and the verifier. It imports no dialect."""
