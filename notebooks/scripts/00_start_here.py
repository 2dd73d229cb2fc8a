# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # Start here
#
# **What does it take to trust the score of an agent that acts on real records?**
#
# An agent that books refunds or edits spreadsheets is judged by what it leaves behind, by how it got there, and by whether it would do it again. This course builds such judgements from small pieces that you can run, move and break. This first page shows how the pages work.
#
# The course follows a published note, *Evaluating tool-using agents: outcomes, trajectories, state diffs and pass^k*. We call it **the source note**; a *note* without more is a text on a customer's record. Chapter 14 sets the source note's numbers beside ours.
#
# You will be able to
#
# - tell whether this machine has all that the course needs, and what to do if not;
# - use the four parts of a chapter: predict, run, move, do;
# - find the chapter that answers your question.
#
# *Reading: 15 minutes. Exercise: 3 minutes. Needs: a little Python.*

# %% [markdown]
# The first cell of each chapter is the same. On Colab and in the browser edition, where a notebook arrives without its package, it installs `evalkit`. Anywhere else it does nothing. Run a cell with Shift+Enter.

# %%
# Installs evalkit on Colab and in the browser edition; does nothing anywhere else.
import sys

if "google.colab" in sys.modules:
    import subprocess

    # From the folder that you cloned: another project has the name evalkit on the public index.
    command = [sys.executable, "-m", "pip", "install", "-q", "/content/evalkit[course]"]
    subprocess.run(command, check=True)
elif sys.platform == "emscripten":
    import piplite

    await piplite.install("evalkit[course]")

# %% [markdown]
# ## Is this machine ready?
#
# Each line below should read `ok`. A line that does not says what to do.

# %%
from evalkit.course.environment import environment

environment()

# %% [markdown]
# ## How a chapter works
#
# ### 1. Predict
#
# Before each result you are asked for a guess. Write it down before you look: a result that contradicts a guess is remembered, a result that was merely read is not.
#
# > **Predict.** An agent was asked to cancel order W1001 and to leave everything else as it was. At the end it says: *"Done, W1001 is cancelled."* Below are two orders before and after. How many fields have changed?
# >
# > Your guess (double-click here to write it): ...

# %% [markdown]
# ### 2. Run
#
# Code cells are short, and each can be run as often as you like. This one holds the two orders and lists every field whose value differs.

# %%
import pandas as pd

before = {
    "W1001": {"status": "open", "total": 42.5},
    "W1002": {"status": "open", "total": 18.0},
}
after = {
    "W1001": {"status": "cancelled", "total": 42.5},
    "W1002": {"status": "cancelled", "total": 18.0},
}
changes = [
    (order, field, before[order][field], after[order][field])
    for order in before
    for field in before[order]
    if before[order][field] != after[order][field]
]
pd.DataFrame(changes, columns=["order", "field", "before", "after"])

# %% [markdown]
# Two fields have changed. What the agent said is true, and it is not the whole truth: the first row is the job, and the second is an order that nobody mentioned. Such a change is called **collateral**. A grader that looks only at W1001 passes this agent. Chapters 01 and 04 build one that does not.

# %% [markdown]
# ### 3. Move
#
# A panel lets you move what the result depends on. Press Tab until a control is marked; then the arrow keys move a slider, and Space opens a list. Or use the mouse. The picture and the table follow. On a page without a running kernel you see the panel standing still.
#
# **Think about:** how good must the agent be for "every time" to stay above one half when it is asked sixteen times?

# %%
from evalkit.course.plots.chapter_00 import asked_again_panel

asked_again_panel()

# %% [markdown]
# The two curves start at the same point and part. Which of them you report decides what the agent seems to be. Chapter 07 is about that choice.

# %% [markdown]
# ### 4. Do
#
# Exercises say how long they take and how hard they are (1 to 3). Fill in the cell below the prompt in place of the `...` and run it: `check` tries your answer on cases that you do not see and says what went wrong. Hints and the solution open one at a time.

# %%
from evalkit.course.exercises import check, show

show("00.a")


# %%
def passed(said, status):
    return ...


check("00.a", passed)

# %% [markdown]
# ## What you have done
#
# `check` remembers what you tried and what was right, in a small file on this machine; nothing is sent anywhere. Run this cell again at any time: ✓ is right, ✗ was tried, ○ is open.

# %%
from evalkit.course.chapters import progress

progress()

# %% [markdown]
# `from evalkit.course.progress import forget_progress` and then `forget_progress()` deletes the file.

# %% [markdown]
# ## The words
#
# Skip this table now, and look a word up when you meet it.
#
# | word | meaning |
# | --- | --- |
# | task | what is asked of the agent, with the goal that decides whether it was done |
# | episode | one run of an agent on a task |
# | trial | an episode counted among the n runs of one task |
# | suite | the tasks that an evaluation uses |
# | claim | what the agent says at the end about its own success |
# | grader | a function from an episode to a number from 0 to 1, or to a verdict |
# | judge | a person or a model that grades by reading, and can be wrong |
# | state | the records as they are stored: table, row, field |
# | path | the place of one field in a state, such as `orders/W1001/status` |
# | change | a path whose value differs between two states |
# | required, allowed | the changes that must happen, and those that may |
# | collateral | a change that is neither required nor allowed |
# | verdict | pass, fail, or not evaluated |
# | pass | said of the full diff: all that is required was done, and there is no collateral |
# | targets only | all that is required was done, whatever else was; tables of results call it completion |
# | checkpoint | a question to a state, with the answer yes or no, and a weight |
# | credit | the share of the required changes or checkpoints that is done, by weight |
# | trajectory | the actions of an episode, in order |
# | process rule | a condition that a trajectory must meet |
# | infra failure | the environment failed, not the agent |
# | step | one of the parts of a task that must all go right |
# | flake rate f | the share of episodes that end in an infra failure |
# | pass@k | the probability that at least one of k trials succeeds |
# | pass^k | the probability that all k trials succeed |
# | per-step reliability r | the probability that one step goes right |
# | recovery rate rho | the share of failed steps that the agent notices and mends |

# %% [markdown]
# ## The map
#
# The table says which chapters are in your folder.

# %%
from evalkit.course.chapters import chapter_map

chapter_map()

# %% [markdown]
# Each chapter stands by itself, and they read best in order. In one afternoon: 01 and 04 (what to check), 07 (how often), 13 (your own agent). If your numbers jump from run to run, go to 08 and 09.
#
# ## Key points
#
# - An agent's report is a claim. The records are the evidence.
# - Predict, run, move, do: in that order, each result stays with you.
# - A word has one meaning through the whole course.
#
# **Where next:** [01, four scoreboards](01_four_scoreboards.ipynb): two agents, four graders, and which of them a customer would agree with.
#
# **Sources:** Chen et al. 2021, *Evaluating Large Language Models Trained on Code* (pass@k). Yao et al. 2024, *τ-bench* (pass^k).
