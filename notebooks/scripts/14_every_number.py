# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 14 Every number
#
# **Do the numbers that this course is built on come out again?**
#
# You will be able to
#
# - find, for each number of the source note, the one line that computes ours;
# - say when two numbers that chance had a part in agree;
# - change a seed and know what may move, and what may not.
#
# *Reading: 10 minutes. Needs: nothing; it is the page to look things up on.*

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
# ## What is compared
#
# The course follows the source note, *Evaluating tool-using agents: outcomes, trajectories, state
# diffs and pass^k*. It states its numbers. We compute each of them afresh
# and set the two side by side. A program does the comparing, not a reader's eye.

# %%
from evalkit.course.numbers import numbers, table

everything = numbers()
every_row = table(everything)
len(everything)

# %% [markdown]
# There are three kinds of numbers, and each has its own rule.
#
# - An **input** is a choice, such as how many episodes are drawn. Ours must be the same.
# - A **closed form** follows from a formula. Ours must be equal in every digit that is printed.
# - A **simulated** number has chance in it. It would differ if its authors drew again. Ours
#   must lie within three standard errors. Where we drew the whole thing again many times, the source
#   note's and ours must both lie in the middle 99.7% of the redraws.

# %%
import pandas as pd

kinds = pd.Series([number.kind for number in everything]).value_counts()
kinds.rename("numbers").to_frame()

# %% [markdown]
# > **Predict.** Among the simulated numbers, how many would you expect more than one standard
# > error away, if nothing but chance were at work?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.course.plots import chapter_14 as plots

apart = pd.Series(plots.differences(everything), index=[number.id for number in everything])
simulated = [number.id for number in everything if number.kind == "simulated"]
drawn = apart[[i for i in simulated if apart[i] != 0]]
print(f"{(drawn.abs() > 1).sum()} of {len(drawn)} beyond one standard error")
print(f"{(drawn.abs() > 2).sum()} of {len(drawn)} beyond two")

# %% [markdown]
# About a third beyond one and one in twenty beyond two is what chance alone does. Much less would be
# as odd as much more: it would mean that we had copied. Numbers from one simulation lean the same
# way, so they are not independent votes. Three of them cannot stray far, since choices of ours were
# fitted to them (see the end).

# %% [markdown]
# ## All of them
#
# Grey bars are inputs and closed forms: they stand at zero or they are wrong. Orange dots had chance
# in them.

# %%
from evalkit.course.figures import captioned, new_figure

figure = new_figure(680, 16 * len(everything))
plots.draw_differences(figure, everything, list(apart))
agree = (every_row["agrees"] == "yes").sum()
captioned(
    figure,
    caption=f"{agree} of {len(every_row)} numbers agree with the source note; "
    f"the furthest lies {apart.abs().max():.1f} standard errors away.",
    alt="A row for each number; all marks lie inside the band of three standard errors.",
)

# %% [markdown]
# The same as a table. `how` says by which rule the two agree.

# %%
pd.set_option("display.max_rows", 100, "display.width", 160, "display.max_colwidth", 40)
every_row[["id", "chapter", "note", "ours", "uncertainty", "how", "agrees"]].set_index("id")

# %% [markdown]
# ## The line that computes it
#
# Each of ours is one line of Python, kept beside the note's value in `evalkit/course/numbers/`.

# %%
from evalkit.course.numbers import line

lines = pd.DataFrame({"unit": every_row["unit"], "ours": [line(n) for n in everything]})
lines.index = every_row["id"]
with pd.option_context("display.max_colwidth", None):
    print(lines.to_string())

# %% [markdown]
# ## From the command line
#
# `uv run python -m evalkit.course.numbers` prints the table and ends with status 1 if a single
# number disagrees. So a change of the code that moves a number cannot pass unseen.
#
# **Try it:** change a seed in one of the files of `evalkit/course/numbers/` and run this notebook
# again. The simulated numbers move by about their uncertainty. The closed forms do not move at all.

# %% [markdown]
# ## Where the note and we differ
#
# Agreement within chance is not equality. Three things are ours and not the source note's:
#
# - the claim rates of the two agents in chapter 01, which it does not state, chosen so that the
#   largest lead comes out;
# - the number of actions in an episode, chosen so that the collateral of both agents comes out
#   (chapter 01);
# - the suite of chapter 08, of which the source note gives the averages and not the tasks. The table
#   says at which percentile of our redraws its figures fall. One draw of 120 tasks is little: it would
#   agree with a somewhat harder family as well.
#
# One pair of its numbers is not in the table: its example of an agent allowed 50 steps and one allowed
# 15. It states no result of them. Chapter 10 plays it.

# %% [markdown]
# ## Key points
#
# - A number that cannot be computed again is a claim.
# - Closed forms agree to the digit. Simulations agree within their error, and should miss zero as
#   often as chance says.
# - The comparison is a command with an exit status, so it is made every time.
#
# **Next:** back to [00](00_start_here.ipynb), or to your own agent.
#
# **Sources.** The source note named above. Its own sources are listed in the chapters that use them.
