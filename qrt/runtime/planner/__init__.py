"""The parts of plans: where values stand, and what runs."""
