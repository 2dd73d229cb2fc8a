# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 10 Budgets: how much was it allowed?
#
# **One agent may take 50 steps, the other 15. Which of the two is better?**
#
# You will be able to
#
# - draw success as a function of steps, tokens, seconds or money from one log, and say where it ends;
# - compare two agents at an equal budget, and refuse when the logs cannot answer;
# - place agents by cost and success, and tell which are beaten by something trivial.
#
# *Reading: 40 minutes. Exercises: 44 minutes. Needs: chapters 01 and 07, and a little pandas.*

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
# ## One agent, two caps
#
# Here is a simulated agent on 100 tasks, four trials of each. An episode *needs* some number of steps.
# The agent has some *patience*, after which it gives up. And the harness has a *cap*: there it stops
# the episode, finished or not. Only the cap is ours to choose.

# %%
import numpy as np
import pandas as pd


def play(cap, tasks=100, trials=4):
    rng = np.random.default_rng(10)
    typical = rng.lognormal(3.2, 0.7, size=(tasks, 1))
    needed = np.ceil(typical * rng.lognormal(0, 0.4, size=(tasks, trials))).ravel()
    patience = rng.geometric(1 / 70, size=needed.size)
    log = pd.DataFrame({"task": np.arange(needed.size) // trials})
    log["trial"] = np.arange(needed.size) % trials
    log["success"] = (needed <= np.minimum(patience, cap)).astype(float)
    log["steps"] = np.minimum(np.minimum(needed, patience), cap)
    return log.assign(infra=False, cap=cap)


# %% [markdown]
# The seed is fixed, so the same agent meets the same luck whatever the cap.
#
# > **Predict.** It runs twice, once with a cap of 15 steps and once with 50. How far apart are the two
# > scores?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.comparison import compare
from evalkit.trials import counts

short, long = play(15), play(50)
careless = compare(counts(short), counts(long))
print(f"cap 15: {careless.first:.1%}   cap 50: {careless.second:.1%}")
print("p below one in a million:", careless.p_value < 1e-6)

# %% [markdown]
# A careful test, paired by task, finds that one agent is far better than the other. They are the same
# agent. The test has done nothing wrong: the question was not about agents. Two caps are two different
# tasks, and we put one number beside another.

# %% [markdown]
# ## One log, many budgets
#
# > **Predict.** Take the log with the cap of 50. Can it tell what the agent would have scored with a
# > cap of 15, without a further run?
# >
# > Your guess (double-click here to write it): ...

# %%
in_time = (long["success"] == 1) & (long["steps"] <= 15)
print(f"in the long log, succeeded within 15 steps: {in_time.mean():.1%}")
print(f"with a cap of 15: {short['success'].mean():.1%}")

# %% [markdown]
# It can. An episode that succeeded at step 12 is a success under either cap. One that needed 31 steps
# would have been stopped at 15: within that budget it counts as failed. So a log with a large cap
# holds every smaller one:
#
# $$ S(b) = \text{mean over tasks of } \frac{\text{trials that succeeded with at most } b}
#    {\text{trials}} . $$
#
# $S(b)$ is *success within a budget*, $b$ the budget in steps, tokens, seconds or money.

# %%
from evalkit.budget import success_within

curve = success_within(long, range(5, 51, 5)).set_index("budget")
curve.loc[[10, 20, 30, 40, 50], ["success", "low", "high"]].round(3)

# %%
from evalkit.course.figures import captioned, new_figure
from evalkit.course.plots import chapter_10 as plots

figure = new_figure()
plots.draw_curves(figure, {"one agent": curve}, caps=(15, 50))
captioned(
    figure,
    caption=f"The score is {curve.success[15]:.1%} at 15 steps and {curve.success[50]:.1%} at 50. "
    "Both are points of one curve.",
    alt="A rising curve with a band. Two upright lines cut it, one low and one high.",
)

# %% [markdown]
# A score with a cap is one point of this curve, so say which. The band is the interval of chapter 08:
# for new tasks, with the four trials of a task kept together. It holds at each single budget, not for
# the whole curve at once. (`counts_within` gives the counts of each task, for pass^k within a budget.)
#
# ## Beyond the cap
#
# > **Predict.** What does the log with the cap of 50 say about 80 steps?
# >
# > Your guess (double-click here to write it): ...

# %%
success_within(long, [40, 50, 80]).drop(columns=["low", "high"]).round(3)

# %% [markdown]
# Nothing exact. `stopped` counts the trials that were cut off at 50 and might have succeeded later. To
# call them failures would say too little, and to leave them out too much. So there is no value, only a
# bracket: `least` if none of them had made it, `most` if all had.
#
# Those who gave up on their own are no riddle. They failed at every budget.

# %%
from evalkit.budget import compare_within

try:
    compare_within(short, long, budget=50)
except ValueError as error:
    print(error)

# %% [markdown]
# The comparison that we made at the start is refused. At an equal budget it is allowed, and has the
# result that it should:

# %%
equal = compare_within(short, long, budget=15)
print(f"within 15 steps: {equal.first:.1%} and {equal.second:.1%}")
print(f"tasks on which one did better: {equal.better + equal.worse} of {equal.tasks}")

# %% [markdown]
# ## It happens
#
# A tutorial for text games showed the scores of a random agent. A reader ran it again, changed
# nothing, and scored far less
# ([TextWorld, issue 191](https://github.com/microsoft/TextWorld/issues/191), 2019):

# %%
game = pd.DataFrame(
    {"steps allowed": [50, 100], "points of 11": [2.6, 4.2]}, ["reader", "tutorial"]
)
game

# %% [markdown]
# The code had moved from 100 steps to 50 after the page was made. In a table of results the same
# random agent would stand in two places.
#
# Dividing by the steps turns the order round, and is as wrong. The first points of a game come easily,
# the last ones do not: success is no straight line through zero. There is no way round the curve.

# %% [markdown]
# ## Two real agents
#
# TheAgentCompany gives agents the work of an office: 175 tasks. Its public results hold the steps of
# each task. Here are four submissions; one of them lacks two tasks. The results state no licence, so we
# keep only how many tasks fall in each band of ten steps.

# %%
bands = plots.published("tac_steps.csv")
bands["done"] = bands["tasks"] * bands["completed"]
board = bands.groupby(["date", "submission"])[["tasks", "done", "steps"]].sum()
board["completed (%)"] = (100 * board["done"] / board["tasks"]).round(1)
board["steps a task"] = (board["steps"] / board["tasks"]).round(1)
board.drop(columns="steps").reset_index("submission")

# %% [markdown]
# > **Predict.** Take the first and the last. The last completes far more tasks, and takes as many steps
# > on the average. Which of the two is ahead within 10 steps? Within 20?
# >
# > Your guess (double-click here to write it): ...

# %%
both = {name: plots.curve(name) for name in (plots.EARLY, plots.LATE)}
within = pd.DataFrame({name: points["success"] for name, points in both.items()})
(100 * within.loc[[10, 20, 30, 50, 90]]).round(1)

# %%
figure = new_figure()
plots.draw_curves(figure, both, caps=(10,))
captioned(
    figure,
    caption="Within 10 steps the early submission leads, from 30 on the late one; at 20 they are close. "
    "Neither gains anything after 70.",
    alt="Two rising curves with bands. They cross between 10 and 20 steps; both end flat.",
)

# %% [markdown]
# The order depends on the budget. With a cap of 10, the weaker agent would have won: it finishes the
# easy tasks sooner. From 70 steps on, more steps bring neither anything, up to 100, the most that either
# took.
#
# Is the crossing luck? Both had the same tasks, so we pair by task, as in chapter 08. We look at
# several budgets, so the p-values are adjusted for that (Holm).

# %%
from evalkit.comparison import holm

budgets = [10, 20, 30, 50, 100]
pairs = [compare(*plots.paired_counts(budget)) for budget in budgets]
found = pd.DataFrame(
    {"late only": [pair.better for pair in pairs]}, pd.Index(budgets, name="steps")
)
found["early only"] = [pair.worse for pair in pairs]
found["p, adjusted"] = [f"{p:.1g}" for p in holm([pair.p_value for pair in pairs])]
found

# %% [markdown]
# Within 10 steps the early one completes nine tasks that the other does not, and never the reverse.
# That is more than luck; so is the lead of the late one from 30 on. At 20 there is nothing to tell.
#
# A caution: one harness's step may do more than another's. Money is a fairer unit, if prices are.

# %% [markdown]
# ## Giving up is not bad luck
#
# Survival analysis has an estimator for times that were cut short, by Kaplan and Meier. An agent that
# stops without success looks like such a case. It is tempting: each stop is taken for a trial that
# would have gone on like the rest.
#
# Suppose an agent can do 68% of its tasks, and gives up on the others sooner or later.

# %%
rng = np.random.default_rng(11)
able = rng.random(4000) < 0.68
ends = np.where(able, rng.geometric(1 / 20, 4000), rng.geometric(1 / 25, 4000))
log = pd.DataFrame({"task": range(4000), "trial": 0, "success": able.astype(float), "steps": ends})
log = log.assign(infra=False, cap=np.inf)

# %% [markdown]
# In Kaplan and Meier's product, the share that is still without success shrinks at each step by those
# who succeed there, among those who are still at work.
#
# > **Predict.** What do the two estimates say about 100 steps?
# >
# > Your guess (double-click here to write it): ...

# %%
steps = np.arange(1, 101)
at_work = np.array([(ends >= step).sum() for step in steps])
succeed = np.array([(able & (ends == step)).sum() for step in steps])
mistaken = pd.Series(1 - np.cumprod(1 - succeed / at_work), index=steps)
raw = success_within(log, steps).set_index("budget")["success"]
pd.DataFrame({"raw fraction": raw, "Kaplan–Meier": mistaken}).loc[[10, 25, 50, 100]].round(2)

# %%
figure = new_figure()
plots.draw_giving_up(figure, raw, mistaken, truth=0.68)
captioned(
    figure,
    caption=f"Of an agent that can do 68% of its tasks, the raw fraction says {raw[100]:.0%} and "
    f"Kaplan–Meier {mistaken[100]:.0%}.",
    alt="Two rising curves. One levels off at the line of what the agent can do, one far above it.",
)

# %% [markdown]
# The product hands the successes of those who go on to those who gave up. But they gave up *because*
# they could not do it. Giving up is a result, and it counts as failed.
#
# The estimator is right for stops that have nothing to do with the agent, at caps that differ by
# chance. With one cap for all it adds nothing.

# %% [markdown]
# ## Cost and success
#
# Steps, tokens and seconds all end as money. A log with a column of costs gives each agent a point in
# a plane: what an episode costs, and how often it succeeds. Say that a step of our simulated agent
# costs two cents:

# %%
from evalkit.budget import cost_and_success

logs = {"cap 15": short, "cap 50": long}
points = {
    name: cost_and_success(log.assign(cost=0.02 * log["steps"])) for name, log in logs.items()
}
pd.DataFrame(points).T.round(3)

# %% [markdown]
# Neither point beats the other: one is cheaper, one succeeds more often. An agent with a cap that can
# be set is not a point but a path.
#
# Now to real agents. For *AI Agents That Matter* (2024) agents wrote programs for the 164 problems of
# HumanEval, five runs each, and the bill was kept. (Models and prices are those of April 2024. The cost
# is that of one run over all problems, the mean of the five; low and high are the worst and the best.)

# %%
agents = plots.published("humaneval_cost.csv").set_index("agent")
shown = agents[["cost_usd", "accuracy", "accuracy_low", "accuracy_high"]]
shown.round(3)

# %% [markdown]
# LDB, Reflexion and LATS are published agents that debug, reflect and search. Three others are baselines
# that the authors made: *retry* runs the model again when an example test fails, *warming* does so at a
# rising temperature, *escalation* goes on to a dearer model.
#
# > **Predict.** How many of the 13 does no other beat, in cost and accuracy both?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.budget import pareto_set, upper_hull

cost, accuracy = [0, *agents["cost_usd"]], [0, *agents["accuracy"]]
frontier = pd.DataFrame({"cost": cost, "accuracy": accuracy}, ["do nothing", *agents.index])
frontier["on the hull"] = upper_hull(cost, accuracy)
frontier[pareto_set(cost, accuracy)].round(3)

# %% [markdown]
# Six of the 13, and doing nothing. This is the *Pareto set*: for each of the others somebody is at least
# as cheap and at least as good, and better in one of the two.
#
# The *hull* is stricter. Send each task to one of two agents by a coin, and you get any point on the
# line between them. An agent below such a line is beaten by a mixture. Doing nothing is one of the
# agents that may be mixed, and here it solves none.

# %% [markdown]
# ## The trivial baseline
#
# Run a model k times and keep a program that works: that is pass@k, at k times the cost. (It takes a
# check that is free and never wrong, so it flatters.) For GPT-3.5 we know how many problems it solved in
# 0 to 5 of five runs.
#
# > **Predict.** Five tries of GPT-3.5: are they better or worse than LDB or LATS with the same model?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.budget import retries

tally = [int(tasks) for tasks in agents.loc["GPT-3.5", "solved_0_to_5_times"].split()]
solved = {"n": [5] * 164, "c": np.repeat(range(6), tally)}
retried = retries(solved, agents.loc["GPT-3.5", "cost_usd"], ks=range(1, 6))
retried.round(3)

# %%
agents.loc[["LDB, GPT-3.5", "LATS, GPT-3.5", "escalation"], ["cost_usd", "accuracy"]].round(3)

# %%
figure = new_figure(height=420)
plots.draw_frontier(figure, agents, retried)
captioned(
    figure,
    caption="Black: agents, with the lowest and highest of five runs. Grey: the hull, which is straight "
    "where money is not on a log scale. Most elaborate agents lie below it.",
    alt="Points by cost and accuracy. The hull rises from GPT-3.5 by escalation to warming and is flat "
    "from there. LATS with GPT-4 is far to the right and below it.",
)

# %% [markdown]
# With GPT-3.5, five plain tries are as good as LDB and LATS, for a fraction of the money. Two tries lie
# even above the grey line: were they among the agents, the hull would go through them. So put trivial
# baselines on the same axes, always: doing nothing, trying again, a cheaper model first.
#
# The right end of the hull deserves a doubt as well:

# %%
last = agents.loc[["warming, GPT-4", "LDB, GPT-4"]]
last[["cost_usd", "accuracy", "accuracy_low", "accuracy_high"]].round(3)

# %% [markdown]
# The means differ by far less than the runs of one agent do. The dearer agent is on the hull by luck, or
# at least nobody can tell. And the ranges are for *these* problems, run again. For new problems the
# interval is wider; the table of retries shows one.

# %% [markdown]
# ## Panel: a cap and a price
#
# The two submissions again. On the left success by steps, on the right success by what a task costs, if
# it stops at the cap. The prices stand at what a step cost on the average.
#
# **Think about:** at which cap is neither of the two beaten? And how cheap must a step of OpenHands be
# for the same at 100 steps?

# %%
plots.budget_panel()

# %% [markdown]
# ## What these numbers rest on
#
# - **An agent that knows its budget behaves otherwise.** A log with a cap of 50 tells what happens when
#   the agent is cut off at 15 without a word. Told in advance, it might hurry.
# - **A step is not a unit.** It may hold one call of a tool or ten. Later steps cost more, since the
#   context grows; the panel takes the mean.
# - **Prices change.** Keep tokens in the log, and the costs can be computed anew.

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("10.a")


# %%
def within_budget(steps, success, budget):
    return ...


check("10.a", within_budget)

# %%
show("10.b")


# %%
def least_and_most(steps, success, caps, budget):
    return ...


check("10.b", least_and_most)

# %%
show("10.c")

# %%
what_to_report = ...
check("10.c", what_to_report)

# %%
show("10.d")

# %%
verdicts = {
    "tutorial": ...,
    "fifty for all": ...,
    "cut": ...,
    "best of five": ...,
    "wider cap": ...,
}
check("10.d", verdicts)

# %%
show("10.e")


# %%
def unbeaten(agents):
    return ...


check("10.e", unbeaten)

# %% [markdown]
# ## Key points
#
# - A score under a cap is one point of a curve. Report the curve, or at least the cap.
# - Compare at an equal budget, paired by task. The order of two agents may turn with the budget.
# - Beyond the cap of a log there is a bracket, and no value. Who gave up has failed at any budget.
# - Put cost beside success, with doing nothing and trying again on the same axes.
#
# **Next:** [11, when assumptions break](11_when_assumptions_break.ipynb).
#
# **Sources.** Budgets and the frontier of cost and accuracy: Kapoor et al., *AI Agents That Matter*
# (2024), with data from [agent-evals](https://github.com/benediktstroebl/agent-evals) (MIT licence).
# Its agents: Reflexion (Shinn et al., 2023), LATS (Zhou et al., 2023), LDB (Zhong et al., 2024).
# Office tasks: Xu et al., *TheAgentCompany* (2024), with
# [public results](https://github.com/TheAgentCompany/experiments) of 2024 and 2025. Retrying: Chen et
# al. (2021). Times cut short: Kaplan and Meier (1958).
