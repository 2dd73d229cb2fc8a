# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 03 Partial credit: what checkpoints reward, and what they hide
#
# **An agent did three quarters of a task. What is that worth?**
#
# You will be able to
#
# - give credit by checkpoints, with weights and groups, and show beside it what doing nothing earns;
# - say what partial credit adds to a pass rate, and what it takes away;
# - tell apart the averages that go by one name, and find where they rank differently.
#
# 50 minutes of reading, 42 of exercises. You need chapter 01 and a little NumPy.

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
# ## A long task
#
# The records of chapter 01 move to a new form of address. Every person's address gets a country, and
# every person gets a note. How many changes is that?

# %%
from evalkit import snapshot
from evalkit.simulate import SCENARIO
from evalkit.simulate.world import World

before = snapshot(World(SCENARIO, seed=1).connection)
people, ada, field = next(iter(SCENARIO.task.required)).split("/")
addresses = {key: f"{row[field]}, UK" for key, row in before[people].items()}
changes = 2 * len(addresses)
changes

# %% [markdown]
# Here is the task as the grader is told it: what is required, and what may change by the way. (Skim
# this cell; chapter 04 takes its entries one by one.) `Created` states a new row, whose `free` columns
# may hold anything; `only="added"` lets the log grow and nothing else; `when="instant"` takes only a
# time. The calls are those of chapter 01's job, made `anew` for another person.

# %%
from evalkit import Allowed, Created, Task

address, cancel, refund, note = (edit.right for edit in SCENARIO.edits)
notes = {key: note.anew(key, "Told of the new form.") for key in addresses}
free = ["id", "created_at"]
told = [Created(SCENARIO.tables[3], columns=n.arguments, free=free) for n in notes.values()]
moved = {f"{people}/{key}/{field}": new for key, new in addresses.items()}
stamps = [Allowed("audit_log/*", only="added"), Allowed(f"{people}/*/updated_at", when="instant")]
long_task = Task(required=moved, created=told, allowed=stamps)


# %% [markdown]
# Three agents do it. They differ in one number, the probability $e$ that they make a change. What they
# do not make, they leave out.


# %%
def leaves_out(e):
    def policy(call, instruction, rng):
        for key, new in addresses.items():
            for step in (address.anew(key, new), notes[key]):
                if rng.random() < e:
                    call(step.tool, **step.arguments)
        return True

    return policy


RATES = {"A": 0.5, "B": 0.65, "C": 0.8}

# %% [markdown]
# > **Predict.** Each plays thirty episodes. In how many is all of it done?
# >
# > Your guess (double-click here to write it): ...

# %%
from dataclasses import replace

import numpy as np

from evalkit.simulate.episodes import play_many

long_world, rng = World(replace(SCENARIO, task=long_task), seed=1), np.random.default_rng(3)
played = {name: play_many(leaves_out(e), long_world, 30, rng, name) for name, e in RATES.items()}
{name: sum(one.verdict.passed for one in many) for name, many in played.items()}

# %% [markdown]
# Zeros. By this table the three agents are one. How long would we have to wait for a pass? With
# probability $e$ for a change and $n$ changes, a pass has probability $e^n$, so it takes $1/e^n$
# episodes on average.

# %%
{name: f"{1 / e**changes:,.0f}" for name, e in RATES.items()}

# %% [markdown]
# If you train or mend agent A, pass or fail will not tell you whether you are getting anywhere.
#
# ## The same episodes, with credit
#
# The verdicts know more. `credit` is the share of the required changes that were made.

# %%
import pandas as pd

rows = [
    (name, one.verdict.passed, one.verdict.credit) for name, many in played.items() for one in many
]
episodes = pd.DataFrame(rows, columns=["agent", "passed", "credit"])
(100 * episodes.groupby("agent")["credit"].agg(["mean", "sem", "min", "max"])).round(1)

# %%
from evalkit.course.figures import captioned, new_figure
from evalkit.course.plots import chapter_03 as plots

figure = new_figure()
plots.draw_long(figure, episodes)
captioned(
    figure,
    caption=f"All {len(episodes)} episodes fail. Their credit tells the three agents apart.",
    alt="Left, three rows of dots at zero. Right, three clouds, each higher than the one before.",
)

# %% [markdown]
# `sem` is the standard error of the mean: the agents are many of them apart, by the same episodes that
# told us nothing. That is what partial credit is good for: work on an agent that cannot do the whole
# task yet.

# %% [markdown]
# ## Checkpoints
#
# Back to the task of chapter 01, and its four edits: an address, a cancelled order, its refund, a note.
# (If you chose another scenario, the names below are yours.) A *checkpoint* is a question to a state,
# with the answer yes or no, and a weight. `after` gives us the end of any episode. `row_with` asks
# whether some row holds these values, whatever its number. No row does at the start, so it takes a new
# one.

# %%
world = World(SCENARIO, seed=1)


def after(*calls):
    world.reset()
    for call in calls:
        world.call(call.tool, **call.arguments)
    return snapshot(world.connection)


def at(state, place):
    table, key, column = place.split("/")
    return state[table][key][column]


def row_with(state, table, columns):
    return any(columns.items() <= row.items() for row in state[table].values())


# %%
from evalkit.credit import Checkpoint, credit

labels = [edit.label for edit in SCENARIO.edits]
print(*labels, sep=", ")
(home, new), (status, gone) = SCENARIO.task.required.items()
parts = [
    Checkpoint(labels[0], lambda s: at(s, home) == new),
    Checkpoint(labels[1], lambda s: at(s, status) == gone),
    Checkpoint(labels[2], lambda s: row_with(s, SCENARIO.tables[2], refund.arguments)),
    Checkpoint(labels[3], lambda s: row_with(s, SCENARIO.tables[3], note.arguments)),
]
print(credit([before, after(address, note)], parts))

# %% [markdown]
# With $d_i$ for whether checkpoint $i$ is done (1 or 0) and $w_i$ for its weight,
#
# $$ \text{credit} = \frac{\sum_i w_i d_i}{\sum_i w_i} . $$
#
# In words: the weights of what is done, over all weights. `credit` takes a list of states, from the start
# to the end. The last decides what is done. The first says what doing nothing earns, and the line above
# ends with it; soon we see why.
#
# Now let the refund be worth three times as much as each of the others:

# %%
heavy = [replace(part, weight=3) if part.name == labels[2] else part for part in parts]
print(credit([before, after(address, note)], heavy))

# %% [markdown]
# Weights are an opinion. State them before you see results: afterwards it is easy to find some that give
# the ranking you wish for.

# %% [markdown]
# ## What credit compresses
#
# Back to the two agents of chapter 01, and to two of its words. *Targets only* wants all that is required
# done, and looks at nothing else; published tables call it completion. A *pass* is by the full diff, which
# also wants the rest left alone. This section is about targets only.
#
# If an edit is right with probability $e$, and each edit counts the same, the mean credit is $e$. All $m$
# edits are right with probability $e^m$.
#
# > **Predict.** From the rates below: by how many points does Aggressive lead on credit? On targets
# > only?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.simulate.agents import AGGRESSIVE, CAREFUL

m = len(SCENARIO.edits)
m, {agent.name: agent.edit for agent in (CAREFUL, AGGRESSIVE)}

# %%
table = pd.DataFrame(
    {agent.name: [agent.edit, agent.edit**m] for agent in (CAREFUL, AGGRESSIVE)},
    index=["credit", "targets only"],
)
table["lead"] = table["Aggressive"] - table["Careful"]
(100 * table).round(1)

# %%
figure = new_figure()
plots.draw_compression(figure)
wide, narrow = 100 * table.loc["targets only", "lead"], 100 * table.loc["credit", "lead"]
captioned(
    figure,
    caption=f"{wide:.0f} points on targets only are {narrow:.0f} points of credit.",
    alt="Two curves over the edit accuracy. Credit is a straight line, targets only a steep curve.",
)

# %% [markdown]
# Twenty points have become seven. But credit is less noisy, too: its variance in one episode is
# $e(1-e)/m$, and that of targets only $e^m(1-e^m)$. Here is the lead in standard errors, with four
# hundred episodes of each agent:

# %%
both = np.array([CAREFUL.edit, AGGRESSIVE.edit])
variance = {"credit": both * (1 - both) / m, "targets only": both**m * (1 - both**m)}
lead_error = {name: np.sqrt(v.sum() / 400) for name, v in variance.items()}
(table["lead"] / pd.Series(lead_error)).round(1)

# %% [markdown]
# About the same. So what is squeezed is not the evidence. It is what a reader takes home: two credits
# near 90 sound like two good agents, and Careful leaves nearly half of the people whom it serves with
# unfinished work.

# %% [markdown]
# ## The half-issued refund
#
# Ada wants her kettle cancelled and her money back.
#
# > **Predict.** What is the credit if nothing is done? If only the address and the note are? All but the
# > refund? Only the cancellation? Then ask yourself which of the four Ada would choose.
# >
# > Your guess (double-click here to write it): ...

# %%
ends = {
    "nothing": after(),
    "first and last": after(address, note),
    f"all, but not: {labels[2]}": after(address, cancel, note),
    f"only: {labels[1]}": after(cancel),
    "all": after(address, cancel, refund, note),
}
alone = {name: credit([before, end], parts).value for name, end in ends.items()}
alone

# %% [markdown]
# All but the refund earns three quarters, and leaves Ada no kettle and no money. She would rather have
# been left alone: then the kettle would still come. A state in the middle can be worse than both ends.
#
# The cure is a *group*: checkpoints that count only together, with a penalty (here 1) where some are
# done and not all.

# %%
pair = {(labels[1], labels[2]): 1}
paired = {name: credit([before, end], parts, pair).value for name, end in ends.items()}
states = pd.DataFrame({"each part alone": alone, "only together": paired})
states

# %%
figure = new_figure()
plots.draw_states(figure, states)
captioned(
    figure,
    caption="Counted one by one, half of the pair earns credit. As a group with a penalty it earns "
    f"{states['only together'].min():.0%}: less than doing nothing.",
    alt="Pairs of bars for five end states. Two black bars are far shorter than the grey ones.",
)

# %% [markdown]
# The penalty is in the unit of the weights: here half of the pair costs as much as one other edit is
# worth. Credit below zero is intended: it says that Ada is worse off than before.
#
# How often does it happen? If each edit is right with probability $e$, exactly one of the two is done with
# probability $2e(1-e)$.

# %%
{a.name: f"{2 * a.edit * (1 - a.edit):.1%}" for a in (CAREFUL, AGGRESSIVE)}

# %% [markdown]
# About one episode of Careful in four leaves half of the pair, and credit one by one pays for it.
#
# Groups see only what is required. For damage elsewhere you need the full diff. `verdict_credit` takes
# its verdict, and weights by place (`{}`: all 1). Its line says *complete* only of a pass:

# %%
from evalkit import grade
from evalkit.credit import verdict_credit

stray = SCENARIO.strays[0]
damaged = after(address, cancel, refund, note, stray.call)
verdict = grade(before, damaged, SCENARIO.task)
print(stray.label, "|", verdict_credit(verdict, {}))

# %% [markdown]
# Full credit, and not a pass: both halves of that line belong in a report.
#
# ## What doing nothing earns
#
# Somebody adds two sensible checkpoints: nothing else is cancelled, and the e-mail address stands as it
# was.
#
# > **Predict.** What is the credit of an agent that does nothing?
# >
# > Your guess (double-click here to write it): ...

# %%
orders, hers, column = status.split("/")


def cancelled(state):
    return {key for key, row in state[orders].items() if row[column] == gone}


as_it_was = before[people][ada]["email"]
more = [
    Checkpoint("others", lambda s: cancelled(s) <= cancelled(before) | {hers}),
    Checkpoint("e-mail", lambda s: s[people][ada]["email"] == as_it_was),
]
print(credit([before, after()], parts + more))

# %% [markdown]
# A third, for an agent that did nothing. Both checkpoints held from the beginning: that is *free
# credit*. It lifts every agent that falls short, and most of all the one that does least.
#
# So the credit of the untouched start is computed with every credit, and a report shows it. Checks that
# nothing broke belong in the full diff, where they can only cost.
#
# In public benchmarks too, doing nothing passes tasks. Exercise 03.c is on one, and chapter 05 counts
# them.
#
# *Half-way: a good place for a break. Next come the forms that public benchmarks use.*

# %% [markdown]
# ## Published forms
#
# Benchmarks combine the scores of a task's parts in several ways. Here are three, for a task that asks for
# a database and an answer, and for one that states no part at all.
#
# > **Predict.** What does each give the task that states no part?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.credit import all_of, any_of, product_of_parts

cases = {"both right": [1, 1], "answer wrong": [1, 0], "answer half right": [1, 0.5], "no part": []}
forms = {"product of parts": product_of_parts, "all of": all_of, "any of": any_of}
pd.DataFrame(
    {name: {c: form(scores) for c, scores in cases.items()} for name, form in forms.items()}
)

# %% [markdown]
# - **Product of parts** (WebArena): one zero makes zero.
# - **All of** (OSWorld's *and*): the mean, or zero if one part is zero.
# - **Any of** (OSWorld's *or*): the best. It is for ways of which one is enough. Over parts that are all
#   needed it gives full marks to a wrong answer.
#
# With no part there is nothing to evaluate. The product of no factors is 1 in mathematics, and a grader
# that followed it gave full marks for nothing. Exercise 03.d is about it.

# %% [markdown]
# ## Progress, and what is left of it
#
# AgentBoard's *progress rate* is a running maximum: after step $t$ it is the best share $f$ of any
# state so far,
#
# $$ p_t = \max_{i \le t} f_i . $$
#
# An agent changes the address, cancels, adds the note, and then writes the old address back.
#
# > **Predict.** What are its progress rate and the share that holds at the end?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.credit import progress_rate

back = address.anew(ada, at(before, home))
steps = {
    "start": None,
    labels[0]: address,
    labels[1]: cancel,
    labels[3]: note,
    "write it back": back,
}
calls = [step for step in steps.values() if step]
held = [credit([before, after(*calls[:t])], parts).value for t in range(len(steps))]
pd.DataFrame({"holds now": held, "progress rate": progress_rate(held)}, index=list(steps))

# %%
figure = new_figure()
plots.draw_progress(figure, list(steps), held)
captioned(
    figure,
    caption=f"The progress rate stays at {max(held):.0%} after the address is written back. "
    f"The state is at {held[-1]:.0%}.",
    alt="A line that rises in three steps and falls in the fourth; a dashed line that does not fall.",
)

# %% [markdown]
# As a measure of how far an agent ever got, that is fair. As a measure of what it leaves behind, it is
# not: Ada has the end state.

# %% [markdown]
# ## One name, several averages
#
# Each task of a suite now has points. What is "the score" of the suite? Let $c_j$ be the points of task
# $j$, and $t_j$ its total.
#
# - **micro**: all points over all totals, $\sum c_j / \sum t_j$. Long tasks weigh more.
# - **macro**: the mean of the shares $c_j / t_j$. Each task weighs the same.
# - **half and half** (TheAgentCompany): the mean of $\frac12 c_j / t_j + \frac12 [c_j = t_j]$. The
#   bracket is 1 if all points were earned, and 0 otherwise.
# - **complete**: the share of tasks with all points: targets only for a whole suite, not the pass rate.

# %% [markdown]
# Three tasks, of which the last is long, and three agents.
#
# > **Predict.** Who is first on micro, who on macro, who on half and half?
# >
# > Your guess (double-click here to write it): ...

# %%
totals = [4, 4, 12]
points = {"P": [4, 4, 0], "Q": [2, 1, 12], "R": [3, 3, 8]}

# %%
from evalkit.credit import averages

names = ["micro", "macro", "half and half", "complete"]
small = pd.DataFrame({agent: averages(earned, totals) for agent, earned in points.items()})
small.loc[names].round(3)

# %% [markdown]
# Three averages, three winners. Q did the long task, R came close everywhere, P finished most. These
# are different questions.
#
# One relation helps in reading published tables: half and half lies halfway between macro and complete.

# %% [markdown]
# ## Six real submissions
#
# TheAgentCompany is a suite of office tasks, each with checkpoints. Teams publish their results task by
# task. We counted the tasks and the points of six submissions.

# %%
real = plots.submissions()
real["tasks"] = real[["completed", "not completed", "not evaluated"]].sum(axis=1)
real[["date", "completed", "not evaluated", "tasks", "points"]]

# %% [markdown]
# > **Predict.** Two of the six swap places between micro and complete. The table above is enough
# > to say which.
# >
# > Your guess (double-click here to write it): ...

# %%
shares = real[names]
(100 * shares).round(1)

# %%
swapped = shares[shares["micro"].rank() != shares["complete"].rank()].index
figure = new_figure()
plots.draw_ranks(figure, shares, swapped)
captioned(
    figure,
    caption=f"{swapped[0]} is ahead of {swapped[1]} on micro and macro, and behind it on half and "
    "half and on complete. The other four keep their places.",
    alt="Six lines from micro to complete, first place on top. The second and third lines cross.",
)

# %% [markdown]
# MUSE gathers more points. TTE-MatrixAgent finishes more tasks. Which is second depends on the column
# heading.
#
# How sure is either order? The first table of this section has them three completed tasks apart, of 175.
# That is well within luck; chapter 08 computes such intervals. So a choice of average can settle a
# ranking that the data leave open.

# %% [markdown]
# ### The published figures
#
# The leaderboard states what is complete, and a score, in percent. Beside them stand ours:

# %%
ours = (100 * shares[["complete", "half and half"]]).round(2)
real[["published complete", "published score"]].join(ours)

# %% [markdown]
# The published score is half and half, and five rows agree with ours. In MUSE's row, one task has no
# points to be had. The publisher counts it as failed. We call it not evaluated, and say so beside the
# figure.
#
# The second row is of two tasks fewer, and its published share is of those that are there. So a task
# without points counts as failed, and a task without a result does not count. A table should say how many
# tasks each row is of.

# %% [markdown]
# ## Panel: weights and groups
#
# Hurried does each part by itself, all equally well. Orderly does the pair (it cancels and refunds)
# together or not at all, and often forgets the note. The first two parts weigh 1; you set the rest.
#
# **Think about:** find a setting that ranks Orderly first while the parts count one by one, and one that
# ranks Hurried first while they count together. Which would you defend before you had seen the results?

# %%
plots.weights_panel()

# %% [markdown]
# Targets only has no weights. It ranks these two the same way in every setting. And it does not see the
# last pair of bars either: to an episode that left a half-done pair and to one that did nothing it gives
# the same zero.

# %% [markdown]
# ## What to report
#
# - While you build an agent: credit, with its standard error.
# - To decide whether to use it: the share of passes, by the full diff.
# - In the same row: what doing nothing earns, and how many tasks the figures are of.

# %% [markdown]
# ## What these numbers rest on
#
# - **The three agents of the long task leave things out.** They do nothing wrong. Real agents do, and the
#   credit does not show it.
# - **Edits are independent.** Where one misunderstanding spoils all, targets only falls less far below
#   credit than $e^m$ says. Chapter 11 drops this.
# - **The penalty is a choice of ours.** What half a refund costs is for the shop to say.
# - **The six submissions** are public results as their authors computed them. We checked the arithmetic
#   and not the runs.

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("03.a")


# %%
def three_averages(points, totals):
    return ...


check("03.a", three_averages)

# %%
show("03.b")


# %%
def group_credit(done, weights, group, penalty):
    return ...


check("03.b", group_credit)

# %%
show("03.c")


# %%
def earned_credit(start, end, weights):
    return ...


check("03.c", earned_credit)

# %%
show("03.d")

# %%
empty_part = ...
check("03.d", empty_part)

# %%
show("03.e")

# %%
flipped = {"A": ..., "B": ...}
check("03.e", flipped)

# %% [markdown]
# ## Key points
#
# - Credit shows progress where nobody passes yet. Use it to build agents.
# - It makes agents look alike: what is far apart on targets only is close on credit.
# - What counts only together goes into a group, and half of it may be worth less than nothing.
# - Show what doing nothing earns, always.
# - Micro, macro, half and half, complete: name the one that you print, and the number of tasks.
#
# **Next:** chapter 04 builds the full diff, which sees what no checkpoint asks about.
#
# **Sources.** Checkpoints and half and half: Xu et al., *TheAgentCompany* (2024), with the public results
# of six submissions (2024 to 2026). Progress rate: Ma et al., *AgentBoard* (2024). Product of parts: Zhou
# et al., *WebArena* (2023). And, or: Xie et al., *OSWorld* (2024).
