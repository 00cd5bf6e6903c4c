"""The core of the IR: operations and their parts, definitions, verification, rewriting. It imports no dialect."""
