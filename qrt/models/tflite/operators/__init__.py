"""The operators of TFLite, by subject: `registry` says which function imports which operator."""
