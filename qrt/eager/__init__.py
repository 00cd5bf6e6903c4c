"""The eager path: describes a call of a public function, finds it in a cache or binds it, and runs it."""
