# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 12 Published logs: what do they show?
#
# **A table says 42%. Can we make the number again, and what can be concluded from it?**
#
# You will be able to
#
# - make a published table again from counts, and add what it leaves out: intervals and coverage;
# - turn a leaderboard's pass^1 to pass^4 back into counts, and see which ranks are ties;
# - say what each of eight graders sees in one and the same episode.
#
# *Reading: 50 minutes. Exercises: 40 minutes. Needs: chapters 03, 04, 05, 07 and 08.*

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
# ## A table, made again
#
# So far most agents were simulated. In this chapter most results are other people's. They come as small
# tables of counts, which `evalkit.logs` made from the published files; sources and licences stand in
# `evalkit/course/data/README.md`.
#
# The first is of gpt-4o on the airline tasks of τ-bench, four trials of each (2024).

# %%
import pandas as pd

from evalkit.course.plots import chapter_12 as plots

gpt4o = plots.run_counts("airline", "gpt-4o")
gpt4o["c"].value_counts().sort_index().rename("tasks").rename_axis("successes of 4").to_frame().T

# %% [markdown]
# Published were pass^1 to pass^4 of .420, .273, .220 and .200, to three decimals.
#
# > **Predict.** Do these counts give the same? And how wide is the interval of pass^4, from 50 tasks?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit import estimate

found = [estimate(gpt4o, k) for k in range(1, 5)]
curve = pd.DataFrame(
    [(e.value, e.low, e.high) for e in found], pd.Index(range(1, 5), name="k")
).set_axis(["value", "low", "high"], axis=1)
curve.assign(published=[0.42, 0.273, 0.22, 0.2]).round(3)

# %%
from evalkit.course.figures import captioned, new_figure

figure = new_figure(height=320)
plots.draw_curve(figure, curve)
captioned(
    figure,
    caption="The published curve can be made again, and its intervals are wide. "
    "Still, the power of pass^1 is no stand-in for it.",
    alt="A falling green curve with tall bars, and a grey one that falls far below them.",
)

# %% [markdown]
# To the third decimal. What the table did not say: for new tasks like these, pass^4 lies somewhere
# between a ninth and a third. And chapter 05 split the first number by what doing nothing earns; print
# that beside every table:

# %%
nothing = plots.published("tau_do_nothing.csv")
nothing["gpt-4o"] = nothing["gpt_4o_passed"] / nothing["gpt_4o_trials"]
nothing[["domain", "doing_nothing", "tasks", "gpt-4o"]].round(2)

# %% [markdown]
# ## A hundred rows, thirty-four crashes
#
# A fork of τ-bench published 100 retail tasks, one trial of each. In 34 of the rows the run had crashed:
# there is an error message, and a reward of 0.
#
# > **Predict.** What would you report? What would somebody report who reads the column `reward`?
# >
# > Your guess (double-click here to write it): ...

# %%
fork = plots.run_counts("retail", "fork 0618")
graded = estimate(fork)
print(f"all rows: {fork['c'].sum() / len(fork):.3f}; those with a verdict: {graded.value:.3f}")
print(f"interval [{graded.low:.3f}, {graded.high:.3f}], coverage {graded.coverage:.0%}")
print("had the crashed failed, or passed: [{:.3f}, {:.3f}]".format(*graded.bracket))

# %% [markdown]
# Nobody knows what the agent would have done in the 34. So the value is taken over the 66 with a verdict,
# the coverage stands beside it, and the bracket is honest about the rest: it is wide.
#
# One more trap: in that file the field `trial` holds the number of the task. Who takes it for the trial
# believes in 100 trials of each task, and gets a hundredth of the value. `read_tau_bench` sees it.

# %% [markdown]
# ## Three denominators for one result
#
# Here are nine runs in one table. *Graded* are the trials with a verdict, *rows* what the file holds,
# *planned* what it should hold.

# %%
runs = plots.published("published_runs.csv").query("run != 'gpt-4o'")
weight = runs[["planned", "n", "c", "infra"]].mul(runs["tasks"], axis=0)
runs = weight.assign(rows=weight["n"] + weight["infra"], run=runs["run"], domain=runs["domain"])
tally = runs.groupby(["domain", "run"])[["c", "n", "rows", "planned"]].sum()
tally.columns = ["passed", "graded", "rows", "planned"]
shares = tally[["graded", "rows", "planned"]].rdiv(tally["passed"], axis=0)
tally.join(shares.round(3).add_prefix("of ")).assign(published=pd.Series(plots.PUBLISHED))

# %% [markdown]
# Where all three agree there is nothing to discuss. Elsewhere the same successes give two or three
# values:
#
# - *fork 0618*: the crashes, .350 or .530.
# - *adaptive cascata*: one run failed for the environment's sake. It was published as 49/50; the
#   benchmark's own code, which drops such rows, says 49/49.
# - *ironshell*: six of the 50 tasks are not in the file at all, and no row tells. Only the plan does. The
#   published .940 was called pass_1, and counts a task if any of several models solved it: that is a
#   pass@k (chapter 07).
#
# The run *gpt-5* on the airline hides something else. Its rows were named 0 to 49 in order of appearance,
# not by their tasks. The mean of 28/50 is right all the same; anything paired by task would be nonsense.
# `read_tau2_bench` compares each row with the actions that were checked in it, and refuses:
# `repair=True` renames what can be told apart.
#
# An earlier upload of that run has no names at all, and claims four trials. It is refused for good.

# %% [markdown]
# ## A leaderboard, turned back
#
# A leaderboard prints four numbers a row, and no counts. But with four trials of each task the four
# numbers *are* counts. Say that $h_c$ of $m$ tasks succeeded $c$ times of four. Then
#
# $$ \text{pass}^4 = \frac{h_4}{m}, \qquad \text{pass}^3 = \frac{h_4 + h_3/4}{m}, \qquad
#    \text{pass}^2 = \frac{h_4 + h_3/2 + h_2/6}{m}, \;\dots $$
#
# and each line has one unknown more than the line before. (The factors are $\binom{c}{k}/\binom{4}{k}$.)

# %%
m, (p1, p2, p3, p4) = 50, (0.84, 0.7767, 0.735, 0.70)  # a row of the airline domain
h4 = m * p4
h3 = 4 * (m * p3 - h4)
h2 = 6 * (m * p2 - h4 - h3 / 2)
h1 = 4 * (m * p1 - h4 - 3 * h3 / 4 - h2 / 2)
print([round(h, 2) for h in (m - h1 - h2 - h3 - h4, h1, h2, h3, h4)])

# %% [markdown]
# Whole numbers, but for the rounding of what was printed. `histograms` finds all whole numbers that
# round to the printed row; there may be one such answer, several, or none.
#
# > **Predict.** τ²-bench's leaderboard has 74 rows with all four numbers. How many have exactly one
# > answer? How many none?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.course.leaderboard import histograms

print(histograms([84.0, 77.67, 73.5, 70.0], tasks=50, decimals=2))
leaderboard = plots.leaderboard()
leaderboard["fits"].value_counts().rename_axis("answers").rename("rows").to_frame()

# %%
blank = leaderboard[leaderboard["fits"] == 0]
blank.groupby(["decimals", "row"])["domain"].agg(", ".join).to_frame()

# %% [markdown]
# Where there is an answer, it is the only one. Of the 14 without, twelve are four early models on three
# domains, printed with one decimal. No whole numbers of 50 or 114 tasks give them: perhaps trials were
# missing, or another number of tasks was run. The page does not tell.
#
# The last row of the table holds a riddle. Each of *glm-5-think*'s four numbers by itself comes from a
# whole number of draws. Look at how the curve falls:

# %%
row = blank[blank["row"].str.startswith("glm")].iloc[0]
points = pd.Series([100, *row[plots.POINTS]], index=range(5), dtype=float)
draws = points / 100 * 97 * pd.Series([1, 4, 6, 4, 1])  # of 97 tasks, k trials of the four
pd.DataFrame({"pass^k": points, "draws": draws, "falls by": -points.diff()}).round(2)

# %% [markdown]
# From pass^2 to pass^3 it falls less than from pass^3 to pass^4. No suite does that. What is lost from
# pass^k to pass^(k+1) is the chance that k trials succeed and the next one fails, and that can only
# shrink with k:
#
# $$ \text{pass}^k - \text{pass}^{k+1} = \mathbb{E}\,[P^k (1 - P)] . $$
#
# The unbiased estimates obey it as well. So one of the four numbers is misprinted, or they are not all
# over the same tasks. Such a check needs nothing but the row itself.

# %% [markdown]
# ## Ranks and ties
#
# With counts, each row gets an interval. Here is the top of one domain:

# %%
board = plots.board("banking_knowledge", k=1)
print(f"{len(board)} rows, {board['SE'].notna().sum()} of them with counts")
board.drop(columns="user").head(6).round(3)

# %% [markdown]
# And two rows can be compared. We do not know which tasks each of them solved, so we take the two as
# independent. (On the same tasks that is too careful, as chapter 08 shows. A leaderboard with results
# per task would do better.)
#
# > **Predict.** How many rows cannot be told from the first?
# >
# > Your guess (double-click here to write it): ...

# %%
figure = new_figure(height=520)
view = plots.draw_board(figure, "banking_knowledge", k=1)
captioned(
    figure,
    caption=view.finding + " Filled: the first and its ties; crosses: no counts fit.",
    alt="28 rows from 55 down to 10%, all but two with an interval. The upper ten are filled.",
)

# %% [markdown]
# The p-values of the differences are adjusted for the number of rows (Holm). A tie does not say that two
# agents are equally good: it says that 97 tasks are too few to rank them. What is far apart is ranked
# rightly. So a leaderboard tells much, but not who is first.

# %% [markdown]
# ## Panel: who is tied with whom?
#
# Choose a domain, k, and the row with which the others are compared. The leaderboard mixes
# simulated users, and chapter 09 showed that the user is a part of the task. So the panel begins with
# the rows that share one.
#
# **Think about:** find three rows A, B and C such that A and B are tied, B and C are tied, and A and C
# are not. And in which domain is the first row no tie at all?

# %%
plots.board_panel()

# %% [markdown]
# ## Which rankings survive a paired test?
#
# Where results per task are public, agents can be paired. Chapter 03 had six submissions to
# TheAgentCompany, with 175 tasks:

# %%
six = plots.published("the_agent_company.csv").set_index("submission")
six[["completed", "not_completed", "not_evaluated", "published_complete"]]

# %% [markdown]
# That makes 15 pairs. Take the fourth and the fifth, MUSE and TTE-MatrixAgent.
#
# > **Predict.** On how many tasks do these two differ? And how many of the 15 orders are sure?
# >
# > Your guess (double-click here to write it): ...

# %%
office = plots.pair_comparisons("TheAgentCompany")
short = office.assign(**{name: office[name].str.split(",").str[0] for name in ("first", "second")})
short.drop(columns=["low", "high"]).round(3)

# %%
figure = new_figure(height=420)
plots.draw_pairs(figure, office)
sure = office["p, adjusted"] < 0.05
captioned(
    figure,
    caption=f"{sure.sum()} of the 15 differences are clear (filled; Holm over all 15). Each interval is "
    f"for one pair alone, so {(office['low'] > 0)[~sure].sum()} hollow ones miss zero as well. No "
    "submission is clearly ahead of its neighbour in the table.",
    alt="15 differences with intervals. Six are filled and lie to the right of zero; nine are hollow.",
)

# %% [markdown]
# MatrixAgent completes 16 tasks that MUSE does not, and MUSE 13 that MatrixAgent does not: McNemar's
# exact test takes only these, and p is .71. What *can* be said: the last three of the list are ahead of the
# first, MatrixAgent and ARIA also of the second, and ARIA of the third.
#
# Pairing is worth having even so. Below is the standard error of this difference, in points, paired and
# not; and how many orders are clear among four submissions to τ²-bench's airline, whose files name the
# tasks or could be repaired.

# %%
cells = plots.published("published_pairs.csv").query("first.str.startswith('MUSE')").iloc[0]
m = cells[["neither", "first_only", "second_only", "both"]].sum()
p, q = ((cells["both"] + cells[one]) / m for one in ("first_only", "second_only"))
differ = (cells["first_only"] + cells["second_only"]) / m
print(f"paired   {100 * ((differ - (p - q) ** 2) / m) ** 0.5:.1f}")
print(f"unpaired {100 * ((p * (1 - p) + q * (1 - q)) / m) ** 0.5:.1f}")
airline = plots.pair_comparisons("τ²-bench airline")
print(f"on the airline {(airline['p, adjusted'] < 0.05).sum()} of {len(airline)} orders are clear")

# %% [markdown]
# *Half-way: a good place for a break.*
#
# ## 807 real episodes, graded again
#
# Now the grader. For 807 episodes of τ-bench and τ²-bench the database was rebuilt before and after, and
# as the goal would have it. `db_match` is the benchmark's own verdict on it. Ours is `state_diff` of the
# goal and the end.
#
# > **Predict.** On how many of the 807 do the two disagree?
# >
# > Your guess (double-click here to write it): ...

# %%
states = plots.published("state_verdicts.csv")
states.groupby(["db_match", "same_state", "reward"])["episodes"].sum().to_frame()

# %% [markdown]
# On none. In 13 episodes the database is right and the reward is 0 all the same. Here is why:

# %%
answers = plots.published("missed_answers.csv")
answers.assign(not_said=answers["not_said"].map("{:.12g}".format))

# %% [markdown]
# The task asked for an answer as well, such as a number of bags or an order's total, and the agent did
# not say it. That is no fault of the comparison. It is the second half of the grade, and the state cannot
# show it.
#
# Why did the others fail? `grade` tells what is missing from what is too much.
#
# > **Predict.** 312 episodes ended in another state than the goal. In how many of them was everything
# > done that had to be, and something else besides?
# >
# > Your guess (double-click here to write it): ...

# %%
endings = plots.endings()
extra = states.query("missing == 0 and collateral == 1").groupby("changes_wanted")["episodes"].sum()
print(f"only collateral: {extra.sum()}; in {extra[0]} of these nothing was to be changed at all")
endings.assign(all=endings.sum(axis=1))

# %%
figure = new_figure(height=260)
plots.draw_endings(figure, endings)
only = endings["only collateral"].sum()
captioned(
    figure,
    caption=f"{only} of {endings.sum().sum() - endings['as the goal'].sum()} failures are collateral "
    "alone (black). A check of the targets would pass them, most of them on the airline.",
    alt="Four bars. The white part, as the goal, is largest; black ends of 16 and 11% on the airline.",
)

# %% [markdown]
# This is chapter 01 in real data: one failure in five is invisible to a grader that looks at its targets
# only. In most of these the right thing was to change nothing.
#
# ## Strict, but is it fair?
#
# Is a strict comparison too strict? A list in another order, `1.0` for `1`, a capital letter, a blank.
#
# > **Predict.** Of the 312 mismatches, how many vanish if all four are ignored, everywhere?
# >
# > Your guess (double-click here to write it): ...

# %%
loose = plots.published("loosened_states.csv").set_index("group")
loose

# %% [markdown]
# None. These agents failed for real. So in these data a lenient grader would have gained nothing.
#
# But the goals were computed by the same tools that the agent used. The other rows are 66 goals that were
# rewritten with the same meaning, and there strictness fails at once. Each kind needs its own form to be
# declared, as in chapter 04, and no other form helps.
#
# One kind is no matter of form: two writes in the other order. Two of these five pass once the order in
# lists is ignored. In the others another order has another result, such as the number that a new
# reservation gets. Whether it is as good needs a person.

# %% [markdown]
# ## When only aggregates are published
#
# AppWorld prints the completion of tasks, and of *scenarios*, each of three like tasks. Even a single
# percentage can be checked: it must be a whole number of them. `histograms` does it, with one trial.

# %%
plots.appworld_fits()

# %% [markdown]
# Three values do not fit; a last digit may have been cut rather than rounded.
#
# Like tasks tend to fail together, as like trials do, so a suite of them is worth less than its number of
# tasks. WebArena makes its tasks from templates. From one agent's run on all 812 the loss can be computed.
#
# > **Predict.** By which factor does the standard error grow if tasks of one template are kept together?
# >
# > Your guess (double-click here to write it): ...

# %%
templates = plots.published("webarena_templates.csv")
each = templates.loc[templates.index.repeat(templates["templates"])]
n, p = each["judged"].sum(), each["passed"].sum() / each["judged"].sum()
naive = (p * (1 - p) / n) ** 0.5
clustered = ((each["passed"] - p * each["judged"]) ** 2).sum() ** 0.5 / n
print(f"{each['passed'].sum()} of {each['tasks'].sum()}, or of the {n} with a verdict: {p:.4f}")
print(f"standard error {naive:.4f}, by template {clustered:.4f}: {clustered / naive:.2f} times")

# %% [markdown]
# ## How each system grades one and the same episode
#
# Each of these benchmarks has its own idea of a grade. Here are seven of them, and ours, on one episode:
# the customer's request of chapter 01, and a question besides.

# %%
from evalkit.course.systems import REQUEST, SCRIPTS, side_by_side

print(REQUEST)
for name, calls in SCRIPTS.items():
    print(f"{name:10} " + ", ".join(call.tool for call in calls))

# %% [markdown]
# Four scripted agents take it on. *good* does what was asked. *collateral* also cancels the order of
# somebody else. *unfinished* forgets the note. *undone* writes the note to the wrong customer, deletes it,
# and writes it to the right one.
#
# Each grader is really run: pytest on a little repository, pages fetched from the store's HTTP service, a
# spreadsheet file that is read back. (SWE-bench grades code. For it, each agent left a module with the
# rules for refunds, and did to it what it did to the store.) *AI Agents That Matter* grades nothing itself:
# it puts cost, here the number of calls, beside the success that some grader gives (chapter 10).
#
# > **Predict.** Which of the eight graders notice the other order? And who notices the note that came and went?
# >
# > Your guess (double-click here to write it): ...

# %%
systems = side_by_side()
systems[list(SCRIPTS)]

# %%
graders = systems[~systems.index.str.startswith("cost")]
figure = new_figure(height=330)
plots.draw_systems(figure, graders[list(SCRIPTS)])
captioned(
    figure,
    caption="Rings are passes, crosses are fails. Boxed: a pass in spite of damage. The cancelled order "
    "gets past five of eight, the undone note past seven.",
    alt="A grid of eight graders and four episodes. The first column is all rings, the third all crosses.",
)

# %%
pd.set_option("display.max_colwidth", 70)
graders[["looks at", "why"]]

# %% [markdown]
# This is no ranking of benchmarks. WebArena sees the other order as soon as its author names that page,
# SWE-bench as soon as an old test looks at it. AppWorld sees it *because* an author wrote a test for
# just that. The difference is in what happens when nobody thought of it. A comparison of
# whole states does not depend on that; a list of checks does.
#
# The undone note is in no end state. Only the trajectory has it, and only a rule that looks for it.
#
# On the cost frontier, *collateral* looks up less and is cheaper. Graded by checkpoints it beats *good*, and
# graded by the full diff it is no success at all. A frontier is as good as its grader.

# %% [markdown]
# ## Grading at scale
#
# 807 episodes fit into memory. A million with their states do not, and need not. Grading is a *map*: each
# episode is graded by itself, where it lies, a batch at a time. Estimating is a *sum*: pass^k needs $n$ and
# $c$ of each task, and the engine that holds the log can count them.
#
# Here are 400 records in batches of 50. (To be cheap they repeat ten played episodes a task, so read no
# rate from them.) A record may be cut off, or its environment have failed.

# %%
import numpy as np

from evalkit import counts, trials_table
from evalkit.batches import verdicts
from evalkit.simulate import SCENARIO
from evalkit.simulate.agents import AGGRESSIVE
from evalkit.simulate.records import recorded_episodes, recorded_tasks

made = {"tasks": 4, "played": 10, "rows": 50}
batches = recorded_episodes(AGGRESSIVE, SCENARIO, np.random.default_rng(12), 400, **made)
rows = pd.concat([verdicts(batch, recorded_tasks(SCENARIO, 4)) for batch in batches])
counts(trials_table(rows, infra="infra"))

# %% [markdown]
# Of each 100 trials one was the environment's and one could not be read: neither is dropped, and neither
# stops the batch. On Dask `episodes.map_partitions(verdicts, tasks)` does the same, and on Spark
# `episodes.mapInPandas(...)`. Have the engine write the verdicts down before you count, for it is lazy and
# would grade anew for each question. The last line stays as it is.
#
# > **Predict.** A million such episodes, two cores: how many times faster than one process are Dask and
# > Spark? And how much more memory do they take than for 20,000?
# >
# > Your guess (double-click here to write it): ...

# %%
scale = plots.published("grading_at_scale.csv").set_index(["episodes", "engine"])
scale[["CPU seconds", "ratio", "CPU ratio", "driver MB", "worker MB", "java MB"]]

# %% [markdown]
# (Measured once: read the ratios. *ratio* is the time, as a share of one process's.) Two processes do not
# halve the time. Workers start, rows go from process to process, and in Spark to Java and back: for 20,000
# that costs about what it gains. For a million both engines take two thirds of the time of one process.
#
# Fifty times the episodes hardly take more memory where they are graded, because nothing but the counts is
# kept. (Java fills what it is given.) For a file that is merely long, one process that reads a batch at a
# time will do (`evalkit.logs.streams`).

# %% [markdown]
# ## What these numbers rest on
#
# - **We read what was published.** Whether a run was honest no table can tell. A row that fits whole
#   numbers may still be wrong.
# - **The states are the records that were touched**, not whole databases. A change elsewhere, if any,
#   would be missed.
# - **Files age.** Leaderboards are as of 2026, and rows with different versions and simulated users stand
#   side by side.

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("12.a")


# %%
def tasks_by_successes(pass_1, pass_2, tasks):
    return ...


check("12.a", tasks_by_successes)

# %%
show("12.b")


# %%
def possible(curve):
    return ...


check("12.b", possible)

# %%
show("12.c")

# %%
claims = {
    "close": ...,
    "raw p": ...,
    "ends": ...,
    "chain": ...,
    "overlap": ...,
}
check("12.c", claims)

# %%
show("12.d")

# %%
what_was_it = ...
check("12.d", what_was_it)

# %% [markdown]
# ## Key points
#
# - Ask for counts per task. With them a table can be made again, gets intervals, and can be paired.
# - Three denominators, graded, in the file, and planned, make one result three. Name yours.
# - Four numbers of a leaderboard are a histogram. Some rows fit none, and most ranks are ties.
# - On 807 real episodes strict comparison was right; one failure in five was collateral alone.
#
# **Next:** [13, your own agent](13_your_own_agent.ipynb).
#
# **Sources.** τ-bench: Yao et al. (2024). τ²-bench: Barres et al. (2025), with its
# [leaderboard](https://github.com/sierra-research/tau2-bench). TheAgentCompany: Xu et al. (2024).
# AppWorld: Trivedi et al. (2024). WebArena: Zhou et al. (2023), with a run from *AI Agents That Matter*
# (Kapoor et al., 2024). Checking whether a printed mean can come from whole numbers: Brown and Heathers,
# *The GRIM test* (2017). Holm (1979); McNemar (1947).
