"""The ops that are written, by subject: `registry` says which function writes which op."""
