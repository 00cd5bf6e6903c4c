"""Modules of the planner: the slots of values, and the steps of a plan."""
