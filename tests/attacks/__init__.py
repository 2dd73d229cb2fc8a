"""Agents that try to pass without doing the task. None may; what the honest agent does must.

What is a test of its own elsewhere, such as `True` for 1 or a link in the place of a directory, is
not here again. Each room holds one kind of state, and `test_attacks` grades them all.
"""
