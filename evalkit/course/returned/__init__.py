"""Scores notebooks that were handed in, and trusts none of them.

Three processes: the command (`__main__`) starts one judge (`judge`) a notebook, and the judge starts
one player (`player`), in which the notebook's cells run. The player can say what it likes: all that
leaves it is plain data (`wire`), the answer that a cell gave to ``check`` or what the learner's
function returned. The judge runs the checks on that, in its own process, with its own package.
"""
