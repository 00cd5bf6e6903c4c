"""Modules of the planner, which assigns a slot to each value of a function and makes the steps of its plan."""
