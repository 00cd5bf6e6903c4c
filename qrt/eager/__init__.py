"""The eager path: what a call of a public function is found by, kept as, bound to and run on."""
