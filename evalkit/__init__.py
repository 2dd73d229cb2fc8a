"""Evaluate tool-using agents: outcomes, trajectories, state diffs and pass^k."""
