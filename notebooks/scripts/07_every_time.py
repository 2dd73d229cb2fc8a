# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 07 Every time: pass^k beside pass@k
#
# **It worked eight times out of ten. Will it work for the next eight customers?**
#
# You will be able to
#
# - count pass^k and pass@k from the trials of a task, and say which of the two you promise;
# - turn "nine days in ten, for everybody" into the per-step reliability that it takes;
# - find what is wrong with a pass^k made from too few trials, or from the wrong counts.
#
# *Reading: 40 minutes. Exercises: 40 minutes. Needs: chapter 01 and a little Python.*

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
# ## One task, again and again
#
# The task is the one of chapter 01, on the same records each time. Our agent gets it right in 80% of
# its episodes. It never writes what it should not. It only fails, now and then, at one of the edits.

# %%
from evalkit.simulate import SCENARIO
from evalkit.simulate.agents import Agent, simulated

edits = len(SCENARIO.edits)
agent = Agent("four in five", edit=0.8 ** (1 / edits), write=0, claim_unfinished=1)
print(f"{edits} edits, each right with probability {agent.edit:.4f}")

# %% [markdown]
# (Why a root? The section on the target says it.)
#
# An episode that is one of several on one task is called a *trial*. Here are ten, really played on
# the record store and graded by the full diff.

# %%
import numpy as np

from evalkit.simulate.episodes import play_many
from evalkit.simulate.world import World


def play_trials(number, seed):
    with World(SCENARIO) as world:
        rng = np.random.default_rng(seed)
        episodes = play_many(simulated(agent, SCENARIO), world, number, rng)
    return [episode.verdict.passed for episode in episodes]


# %%
trials = play_trials(10, seed=7)  # a seed with 8 of 10, the agent's average; others give 6 to 10
print(" ".join("✓" if passed else "✗" for passed in trials))
print(sum(trials), "of", len(trials))

# %% [markdown]
# Now the agent goes to work. Every day eight customers ask for the same thing.
#
# > **Predict.** On how many of 40 days is at least one of the eight served? On how many are all eight?
# >
# > Your guess (double-click here to write it): ...

# %%
import pandas as pd

days = np.array(play_trials(40 * 8, seed=0)).reshape(40, 8)
served = {"at least one served": days.any(axis=1).sum(), "all eight served": days.all(axis=1).sum()}
print(f"{days.mean():.0%} of all trials pass")
pd.DataFrame({"of 40 days": served})

# %%
from evalkit.course.figures import captioned, new_figure
from evalkit.course.plots import chapter_07 as plots

figure = new_figure(height=280)
plots.draw_days(figure, days)
captioned(
    figure,
    caption=f"All eight are served on {served['all eight served']} of 40 days (shaded). A cross is "
    "a customer who was not served.",
    alt="40 columns of eight marks. Most columns hold one, two or three crosses; few hold none.",
)

# %% [markdown]
# Four in five sounds like a good agent. On most days it lets somebody down. Yet there is no day on
# which it serves nobody. Both statements are about the same trials, and each of them is somebody's
# headline.

# %% [markdown]
# ## Two promises
#
# **pass@k** is the probability that *at least one* of k trials succeeds. It fits work that is checked
# and tried again: a test picks the good one of k patches.
#
# **pass^k** (say "pass hat k") is the probability that *all* k succeed. It fits work that is handed
# over as it is. Each customer gets one try.

# %% [markdown]
# ## Count first
#
# Forty days are a luxury. What do the ten trials from above say about eight in a row? Any of them
# could have been the day's. So take every group of k trials, and look how many keep the promise.
# Pairs first:

# %%
from itertools import combinations

pairs = list(combinations(trials, 2))
print(f"{len(pairs)} pairs")
print(f"{sum(any(pair) for pair in pairs)} with at least one that passed")
print(f"{sum(all(pair) for pair in pairs)} with two that passed")


# %% [markdown]
# > **Predict.** There are as many groups of eight as there are pairs: choosing eight to keep is the
# > same as choosing two to leave out. In how many groups of eight did all pass?
# >
# > Your guess (double-click here to write it): ...


# %%
def share(promise, trials, k):
    groups = list(combinations(trials, k))
    return sum(promise(group) for group in groups) / len(groups)


counted = pd.DataFrame(index=pd.RangeIndex(1, 11, name="k"))
counted["pass@k"] = [share(any, trials, k) for k in counted.index]
counted["pass^k"] = [share(all, trials, k) for k in counted.index]
counted.round(3)

# %% [markdown]
# `any` is pass@k and `all` is pass^k: that is the whole difference. At k = 1 both are the plain
# success rate. From there one climbs to certainty and the other falls. At k = 8 a single group is
# left, the one that misses both failures.

# %% [markdown]
# ## The formula
#
# Groups can be counted without listing them. Of $n$ trials, $c$ succeeded:
#
# $$ \text{pass}^k = \binom{c}{k} \Big/ \binom{n}{k} , \qquad
#    \text{pass@}k = 1 - \binom{n-c}{k} \Big/ \binom{n}{k} . $$
#
# $\binom{n}{k}$ (say "n choose k") is the number of groups of $k$ among $n$ trials. $\binom{c}{k}$ of
# them hold successes only, $\binom{n-c}{k}$ failures only.

# %%
import math

from evalkit.passk import pass_at_k, pass_hat_k

n, c = len(trials), sum(trials)
print([round(math.comb(c, k) / math.comb(n, k), 3) for k in counted.index])
print("evalkit agrees:", np.allclose(pass_hat_k(n, c, counted.index), counted["pass^k"]))
print("and on pass@k:", np.allclose(pass_at_k(n, c, counted.index), counted["pass@k"]))

# %% [markdown]
# A suite's pass^k is the mean over its tasks, each from its own trials.
#
# > **Predict.** Two agents have four tasks, eight trials each, and pass 75% of all. One always passes
# > three tasks and never the fourth. The other passes each task six times of eight. What are their
# > values of pass^8?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.passk import pass_hat_k_curve

steady = pass_hat_k_curve({"n": [8, 8, 8, 8], "c": [8, 8, 8, 0]})
moody = pass_hat_k_curve({"n": [8, 8, 8, 8], "c": [6, 6, 6, 6]})
curves = {"three of four": steady.value, "six of eight": moody.value}
pd.DataFrame(curves, index=pd.Index(steady.k, name="k")).round(3)

# %% [markdown]
# One success rate, two agents that no user would confuse. The mean over tasks hides where the
# successes lie, and pass^k shows it.

# %% [markdown]
# ## Why not (c/n)^k?
#
# If a task succeeds with probability $P$ and trials are independent, pass^k *is* $P^k$. So why not
# put $c/n$ in for $P$? Here we know $P$: our agent has $P = 0.8$.

# %%
print(f"truth       {0.8**8:.3f}")
print(f"plug-in     {(sum(trials) / len(trials)) ** 8:.3f}")
print(f"by groups   {pass_hat_k(len(trials), sum(trials), 8):.3f}")

# %% [markdown]
# The plug-in hits the truth, and the count of groups misses it widely.
#
# > **Predict.** We play ten trials again, 100,000 times over. Which of the two is right on average?
# >
# > Your guess (double-click here to write it): ...

# %%
again = np.random.default_rng(9).binomial(10, 0.8, size=100_000)
estimates = pd.DataFrame({"plug-in": (again / 10) ** 8, "by groups": pass_hat_k(10, again, 8)})
estimates.agg(["mean", "std"]).round(3)

# %% [markdown]
# The plug-in hit because these ten trials happened to be exactly average. On the whole it promises
# far too much: a lucky ten gains more than an unlucky ten loses. More tasks do not cancel that.
#
# The count of groups is right on average. Its spread is wide, and more tasks do cancel that.

# %% [markdown]
# ## More than you have
#
# > **Predict.** One trial was run, and it passed. What is pass^2?
# >
# > Your guess (double-click here to write it): ...

# %%
try:
    pass_hat_k(1, 1, 2)
except ValueError as error:
    print(error)

# %% [markdown]
# There is no pair in one trial, so there is nothing to count. A public tool
# [printed 0.0](https://github.com/skillberry-ai/cap-evolve/issues/112) here. An estimator
# [returned 1.0](https://github.com/nuprl/MultiPL-E/issues/40) as pass@100 of 99 trials that had all
# failed. Both read like findings, and neither is one.
#
# A suite hides the same gap. Three tasks have 10, 2 and 2 trials:

# %%
uneven = {"n": np.array([10, 2, 2]), "c": np.array([10, 0, 1])}
dropping = [np.nanmean(pass_hat_k(uneven["n"], uneven["c"], k)) for k in (1, 2, 4)]
print("k = 1, 2, 4, each on the tasks that have k trials:", np.round(dropping, 2))
print(pass_hat_k_curve(uneven))

# %% [markdown]
# The first line says that four in a row are likelier than one. That cannot be: who succeeds four times
# has succeeded the first time. In an array, what is undefined is NaN, and `nanmean` had dropped two
# tasks without a word. In `evalkit` a curve ends at the smallest n. Ask for more, and it names the
# tasks it leaves out.
#
# *A good place for a break: from counting trials we go to what makes them fail.*

# %% [markdown]
# ## Steps
#
# Where do failures come from? In the step model of chapter 06 each step goes right with probability
# r, and an episode needs all n of them. (From here on n counts steps, not trials.)
#
# > **Predict.** r = 0.99, n = 20, eight customers. What are pass^8 and pass@8?
# >
# > Your guess (double-click here to write it): ...

# %%
right = np.random.default_rng(10).random((20_000, 8, 20)) < 0.99  # days, customers, steps
passed = right.all(axis=2)
print(f"of {len(passed):,} days: all eight served on {passed.all(axis=1).sum():,}")
print(f"at least one served on {passed.any(axis=1).sum():,}")

# %% [markdown]
# "All eight passed" asks that all 20 steps of all eight go right. So does a single task of 160 steps.
# Here are the same dice, laid out in one row a day:

# %%
one_long_task = right.reshape(20_000, 160).all(axis=1)
print("the same days:", (one_long_task == passed.all(axis=1)).all())

# %% [markdown]
# To repeat a task k times asks as much as to make it k times as long:
#
# $$ s = r + (1 - r)\rho , \qquad \text{pass}^k = (s^n)^k = s^{nk} , \qquad
#    \text{pass@}k = 1 - (1 - s^n)^k . $$
#
# $r$ is the probability that a step goes right at once, $\rho$ the share of failed steps that the
# agent mends, $s$ the probability that a step goes right in the end, and $k$ the number of trials.

# %%
from evalkit.steps import episode_success, step_pass_at_k, step_pass_hat_k

print(f"pass^8                  {step_pass_hat_k(0.99, 20, 8):.1%}")
print(f"one task of 160 steps   {episode_success(0.99, 160):.1%}")
print(f"pass@8                  {step_pass_at_k(0.99, 20, 8):.4%}")

# %% [markdown]
# One agent, one task: a fifth, or as good as certain. Which number you print is a decision, and not a
# small one.
#
# ## The whole surface
#
# Only s and the product nk matter, so all of pass^k fits into one picture. To repeat a task, or to
# lengthen it, moves you to the right. A better agent moves you up.

# %%
figure = new_figure(height=420)
plots.draw_surface(figure)
captioned(
    figure,
    caption="pass^k without recovery. Eight times the steps bring r = 0.99 from 81.8% to 20.0%. "
    "The lines of equal pass^k are nearly straight: ten times as far right is one nine up.",
    alt="Shaded map with lines at 1, 10, 50, 90 and 99 per cent, rising from lower left to upper "
    "right. An arrow at r = 0.99 leads from 20 steps, below the 90 per cent line, to 160 steps.",
)

# %%
r, steps = np.array([0.9, 0.99, 0.999, 0.9999]), [10, 20, 100, 160, 1000]
surface = pd.DataFrame(100 * step_pass_hat_k(r[:, None], steps, 1), index=r, columns=steps)
surface.rename_axis(index="r", columns="pass^k in % at n × k").round(1)

# %% [markdown]
# ## The target
#
# Read the map the other way: wanted is a pass^k of $T$. Without recovery, $s^{nk} = T$ gives
#
# $$ r = T^{1/(nk)} . $$
#
# (This was the root in the first cell: T = 0.8, k = 1, and a step for each edit.)
#
# > **Predict.** With T = 0.9 and n = 20: which r is enough once? Which for eight customers?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.steps import required_reliability

lengths = pd.Index([10, 20, 50], name="steps n")
needed = pd.DataFrame({f"pass^{k}": required_reliability(0.9, lengths, k) for k in (1, 8)}, lengths)
needed.round(4)

# %% [markdown]
# With 20 steps, once asks for 0.9947 and eight times for 0.9993. The difference looks like nothing.
# Turn it round: one step in how many may fail?

# %%
(1 / (1 - needed)).round().astype(int)

# %% [markdown]
# The same task, and an eighth of the failures. More trials measure pass^k better; they do not raise it.
#
# A warning: near one, four digits are few. The table's 0.9993 is rounded down, and falls short.

# %%
print(f"r = 0.9993: pass^8 is {step_pass_hat_k(0.9993, 20, 8):.1%}")
print(f"with all digits:      {step_pass_hat_k(needed.loc[20, 'pass^8'], 20, 8):.1%}")

# %% [markdown]
# ## What a nine buys
#
# From 0.9 to 0.99 to 0.999, each time a *nine* is added. It is said that each buys ten times the
# length at the same pass^k.
#
# > **Predict.** At r = 0.9, nine episodes in ten survive one step. How many steps do nine in ten
# > survive at 0.99, 0.999 and 0.9999?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.steps import horizon

nines = pd.DataFrame({"r": [0.9, 0.99, 0.999, 0.9999]})
nines["steps"] = horizon(0.9, nines["r"]).astype(int)
first_slip = np.random.default_rng(11).geometric(1 - nines["r"], size=(100_000, 4))
nines["share that survives"] = (first_slip > nines["steps"].to_numpy()).mean(axis=0).round(3)
nines["times the last"] = (nines["steps"] / nines["steps"].shift()).round(2)
nines

# %% [markdown]
# It holds, with dice as with the formula, and whole steps round it a little. The length is
# $\ln T / \ln r$, and near one $\ln r$ is close to $-(1-r)$: a tenth of the failures, ten times the
# length.
#
# So it is an approximation for *small* $1-r$. From 0.5 to 0.95, also a tenth of the failures:

# %%
length = np.log(0.9) / np.log([0.5, 0.95])
print(f"{length[0]:.2f} steps become {length[1]:.2f}: {length[1] / length[0]:.1f} times")

# %% [markdown]
# The other end matters more. Suppose that one step in a thousand fails whatever the agent does: a
# tool times out, a page does not load. Then a step goes right with 0.999 r.
#
# > **Predict.** What does the fourth nine of the *agent* buy now?
# >
# > Your guess (double-click here to write it): ...

# %%
agents = np.array([0.9, 0.99, 0.999, 0.9999, 0.99999])
limits = pd.DataFrame({"r of the agent": agents})
limits["agent alone"] = np.log(0.9) / np.log(agents)
limits["and one in 1,000"] = np.log(0.9) / np.log(0.999 * agents)
limits["times the last"] = limits["and one in 1,000"] / limits["and one in 1,000"].shift()
limits.round({"agent alone": 1, "and one in 1,000": 1, "times the last": 2})

# %%
figure = new_figure()
plots.draw_nines(figure, agents, limits["agent alone"], limits["and one in 1,000"])
captioned(
    figure,
    caption="Nines buy length only until something other than the agent fails more often than it.",
    alt="Two rising lines that part at r = 0.99: one stays straight, the other levels off near 100.",
)

# %% [markdown]
# The fourth nine buys not even twice the length, the fifth next to nothing. A nine is worth ten where
# it shrinks *all* that fails. Chapter 09 is about what fails besides the agent.

# %% [markdown]
# ## Panel: what do you promise?
#
# The dots are pass^k and pass@k at your k; the diamond is the pass^k that you want, and the dashed
# curve belongs to an agent that reaches it.
#
# **Think about:** halve the steps and double k. One of the two dots stays where it was, and the other
# moves. Why?

# %%
plots.promises_panel()

# %% [markdown]
# ## What these numbers rest on
#
# - **Each trial has the same chance**, whatever became of the others. A real service has bad days, on
#   which failures come together. Groups can still be counted then, if the trials come from many days;
#   $P^k$ is wrong.
# - **Each step has the same r, and each is needed.** Chapter 11 lets one mistake spoil many steps.
# - **The one in 1,000** that fails anyway is our choice. Where the curve bends moves with it.
# - **One task.** In a suite they differ, and that changes more than one would think (chapter 08).

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("07.a")


# %%
def every_time(trials, k):
    return ...


check("07.a", every_time)

# %%
show("07.b")

# %%
fifty_of_164 = ...
check("07.b", fifty_of_164)

# %%
show("07.c")

# %%
right_values = {"A": ..., "B": ..., "C": ..., "D": ...}
check("07.c", right_values)

# %%
show("07.d")

# %%
promises = {
    "patches": ...,
    "refunds": ...,
    "nightly": ...,
    "drafts": ...,
    "reruns": ...,
}
check("07.d", promises)

# %%
show("07.e")


# %%
def repeats(r, n, target):
    return ...


check("07.e", repeats)

# %% [markdown]
# ## Key points
#
# - pass@k asks whether it can, pass^k whether it will every time. From k = 1 they part.
# - Count groups of k trials of *one* task, then average over tasks. (c/n)^k promises too much.
# - With fewer trials than k there is no value. Not 0, not 1.
# - To repeat a task k times asks as much of the agent as to make it k times as long.
# - A nine buys ten times the length while nothing but the agent fails.
#
# **Next:** [08, real tasks differ](08_real_tasks_differ.ipynb): suites, intervals, and how many trials
# are enough.
#
# **Sources.** pass@k and its estimator: Chen et al., *Evaluating Large Language Models Trained on
# Code* (2021). pass^k: Yao et al., *τ-bench* (2024). The wrong values are from public issues, linked
# where they stand (2023 to 2026).
