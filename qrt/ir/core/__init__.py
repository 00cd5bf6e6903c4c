"""The machine: operations and what they are made of, definitions, verification, rewriting. It imports no dialect."""
