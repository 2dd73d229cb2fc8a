# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 08 Real tasks differ
#
# **A suite of 120 tasks, some easy, some hard. The agent passes six episodes in ten. How often does it
# get a task right eight times out of eight, and how sure can we be?**
#
# You will be able to
#
# - say why pass^8 cannot be computed from pass^1, and by how much two usual shortcuts miss it;
# - put an interval on a suite's pass^k that holds the truth as often as it claims, and say what it is
#   about: new tasks, or these tasks again;
# - plan how many tasks and trials to run, and compare two agents so that a real difference shows.
#
# *Reading: 50 minutes. Exercises: 41 minutes. Needs: chapter 07 and a little Python.*

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
# ## Two tasks
#
# An office gives its agent two kinds of job. Change an address: right in 95% of trials. Merge two
# contracts: right in 25%. That is 60% on average.
#
# > **Predict.** Each week each job comes eight times. In how many weeks of a hundred are all eight right,
# > averaged over the two jobs? And for an agent that gets 60% of either job right?
# >
# > Your guess (double-click here to write it): ...

# %%
import numpy as np
import pandas as pd

weeks = np.random.default_rng(1).random((20_000, 2, 8))  # weeks, jobs, trials
agents = {"95% and 25%": np.array([0.95, 0.25]), "60% and 60%": np.array([0.6, 0.6])}
passed = {name: weeks < P[:, None] for name, P in agents.items()}
rows = {name: [x.mean(), x.all(axis=2).mean()] for name, x in passed.items()}
(100 * pd.DataFrame(rows, index=["trials right (%)", "all eight right (%)"])).round(1)

# %% [markdown]
# The same share of trials, and more than fifteen times as many full weeks. The first agent's successes sit
# on one job, where they make rows of eight. The second agent's are spread, and a row breaks nearly
# always.
#
# Without luck, from the probabilities alone:

# %%
P = agents["95% and 25%"]
print(f"mean of P^8: {np.mean(P**8):.3f}   8th power of the mean: {np.mean(P) ** 8:.3f}")

# %%
from evalkit.course.figures import captioned, new_figure
from evalkit.course.plots import chapter_08 as plots

figure = new_figure()
plots.draw_jensen(figure, P, k=8)
captioned(
    figure,
    caption="The mean of two points of a curve that bends up lies above the curve.",
    alt="P to the 8th power, flat at first, then steep. A dashed line joins the points at 0.25 and "
    "0.95; its middle lies far above the curve.",
)

# %% [markdown]
# That holds for any number of tasks. Let $P_i$ be the probability that a trial of task $i$ succeeds,
# and let the bar be the mean over tasks:
#
# $$ \text{pass}^k = \overline{P^k} \;\ge\; \bigl(\overline{P}\bigr)^k = (\text{pass}^1)^k . $$
#
# The two are equal only if all tasks are alike, or k = 1. It is known as Jensen's inequality.

# %% [markdown]
# ## A suite of 120 tasks
#
# Our tasks follow the step model of chapter 06, each with its own number of steps $n$ (4 to 30) and its
# own per-step reliability $r$. So each has its own $P = r^n$. We draw them by chance:

# %%
from evalkit.simulate.suites import draw_suite

suite = draw_suite(np.random.default_rng(0), tasks=120)
tasks = pd.DataFrame({"n": suite.n, "r": suite.r.round(3), "P": suite.success.round(3)})
tasks.sort_values("P", ascending=False).iloc[[0, 1, 40, 80, -2, -1]]

# %% [markdown]
# In a simulation we know every $P$, so we know the suite's true pass^k. Two shortcuts are common
# where only averages are known:
#
# - the **naive power** $(\text{pass}^1)^k$;
# - the **homogeneous model**: one task with the mean $r$ and the mean $n$ stands for all,
#   $\bar r^{\,\bar n k}$.
#
# > **Predict.** What is pass^8, and what does each shortcut make of it?
# >
# > Your guess (double-click here to write it): ...

# %%
truth = suite.pass_hat_k(8)
naive, homogeneous = suite.pass_hat_k(1) ** 8, suite.homogeneous(8)
answers = pd.DataFrame({"pass^8": [truth, naive, homogeneous]})
answers.index = ["truth", "naive power", "homogeneous model"]
answers["times too small"] = truth / answers["pass^8"]
answers.round({"pass^8": 3, "times too small": 1})

# %%
figure = new_figure()
plots.draw_curves(figure, suite, k=8)
captioned(
    figure,
    caption="Both shortcuts start near the truth at k = 1 and leave it further with each k: at "
    f"k = 8 they say {naive:.1%} and {homogeneous:.1%}, and the truth is {truth:.1%}.",
    alt="Three falling curves. pass^k flattens out well above the other two, which run to zero.",
)

# %% [markdown]
# The naive power takes every task for the average task. The homogeneous model averages earlier still,
# inside $P = r^n$, and loses twice. Look at what it makes of pass^1:

# %%
print(f"pass^1: truth {suite.pass_hat_k(1):.3f}, homogeneous model {suite.homogeneous(1):.3f}")
eighth = np.sort(suite.success**8)[::-1]
print(f"the best 30 of 120 tasks hold {eighth[:30].sum() / eighth.sum():.0%} of pass^8")

# %% [markdown]
# So unlike tasks *help*: an agent that passes some kinds of task every time is worth more than its
# average shows, on those kinds. Most of pass^8 comes from few tasks: ask which before you rely on it.

# %% [markdown]
# ## Panel: build a suite
#
# The tasks are on the left, pass^k and its two shortcuts on the right. There is no luck in it: the 120
# tasks are spread evenly over what the controls allow.
#
# **Think about:** set the spread of r to 0. Both shortcuts are still too low. What else must you do
# until all three curves are one?

# %%
plots.builder_panel()

# %% [markdown]
# ## Measure it
#
# Nobody knows the $P$ of real tasks. What we can have is trials. Run each task eight times, and keep
# for each its successes $c$ of $n$ trials. (From here on n counts trials, not steps.)

# %%
from evalkit.simulate.suites import run_suite, suite_counts

counts = suite_counts(run_suite(suite, trials=8, rng=np.random.default_rng(2)), trials=8)
counts.head(4)

# %% [markdown]
# > **Predict.** How many of the 120 tasks passed all eight trials? How many none?
# >
# > Your guess (double-click here to write it): ...

# %%
by_successes = counts["c"].value_counts().sort_index()
print(f"all eight {(counts['c'] == 8).mean():.1%}, none {(counts['c'] == 0).mean():.1%}")
by_successes.rename("tasks").rename_axis("successes of 8").to_frame().T

# %% [markdown]
# Five tasks in six lie between always and never. One run of each would have shown a pass or a fail,
# and nothing of this.
#
# From the counts, chapter 07's estimator, as a mean over the $m$ tasks:
#
# $$ \widehat{\text{pass}^k} = \frac{1}{m} \sum_{i=1}^{m} \binom{c_i}{k} \Big/ \binom{n_i}{k} . $$
#
# The hat says: estimated. With $n = k = 8$ a task adds 1 if all passed, else 0.

# %%
from evalkit.passk import pass_hat_k

for k in (1, 8):
    estimated = pass_hat_k(counts["n"], counts["c"], k).mean()
    print(f"pass^{k}: estimated {estimated:.3f}, true {suite.pass_hat_k(k):.3f}")

# %% [markdown]
# Close for pass^1, off for pass^8. Is the estimator wrong, or was it luck?
#
# > **Predict.** We run all 960 trials again, ten thousand times. Around which value do the estimates
# > lie, and how far apart?
# >
# > Your guess (double-click here to write it): ...

# %%
again = run_suite(suite, 8, np.random.default_rng(3), repeats=10_000)
unbiased = pass_hat_k(8, again, 8).mean(axis=1)
repeated = pd.DataFrame({"unbiased": unbiased, "naive power": (again / 8).mean(axis=1) ** 8})
repeated.agg(["mean", "std"]).round(3)

# %%
figure = new_figure()
plots.draw_noise(figure, repeated, truth)
captioned(
    figure,
    caption=f"The unbiased estimate is right on average, {100 * unbiased.std():.1f} points of noise "
    "around the truth. The naive power hardly varies, and is always wrong.",
    alt="A wide hump centred on a line marked truth, and a narrow one far to its left.",
)

# %% [markdown]
# It was luck, and the luck is large. The naive power is steady, and steadily wrong: no number of tasks
# mends that. Noise can be cut; for one and the same suite, by more trials:

# %%
rng, noise = np.random.default_rng(4), {}
for n in (8, 16, 32, 64):
    runs = run_suite(suite, n, rng, repeats=10_000)
    noise[n] = 100 * pass_hat_k(n, runs, 8).mean(axis=1).std()
pd.DataFrame({"SD in points": noise}).rename_axis("trials of each task").round(1)

# %% [markdown]
# Trials beyond k help more than one would think: sixteen hold thousands of groups of eight, not two.

# %% [markdown]
# ## An interval from one experiment
#
# Within a single experiment, the tasks' own estimates $v_i$ tell how far their mean may be off. Its
# standard error is
#
# $$ \text{SE} = \frac{\text{SD}}{\sqrt{m}} , $$
#
# with SD the standard deviation of the $v_i$ and $m$ the number of tasks. Two of these each way is the
# usual interval.

# %%
v = pass_hat_k(counts["n"], counts["c"], 8)
se = v.std(ddof=1) / np.sqrt(len(v))
print(f"{v.mean():.3f} ± {1.96 * se:.3f}: [{v.mean() - 1.96 * se:.3f}, {v.mean() + 1.96 * se:.3f}]")

# %% [markdown]
# > **Predict.** Ten tasks pass all eight trials each. What does this recipe give, and what would you
# > say of pass^8?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.estimates import estimate

perfect = {"n": [8] * 10, "c": [8] * 10}
try:
    estimate(perfect, k=8, method="normal")
except ValueError as error:
    print(error)
print(estimate(perfect, k=8))

# %% [markdown]
# All $v_i$ are 1, so SD is 0, and the recipe claims certainty from ten tasks. `evalkit` refuses.
#
# **Wilson's** interval turns the question round: which true values $p$ would make such a result no
# surprise? An agent that cannot do every such task may well have met ten that it can. With $v$ the
# mean of the $v_i$, which is the estimate, the interval holds all $p$ for which
#
# $$ |v - p| \;\le\; t\,\sqrt{\frac{p\,(1 - p)}{m}} . $$
#
# The textbook's $t$ is 1.96. Ours is Student's, which is larger where tasks are few. At $v = 1$ the ends
# are $m / (m + t^2)$ and 1. For the ten perfect tasks:

# %%
from scipy.stats import norm, t

for whose, quantile in (("textbook", norm.ppf(0.975)), ("evalkit", t.ppf(0.975, df=9))):
    print(f"{whose}: t = {quantile:.2f}, from {10 / (10 + quantile**2):.3f}")

# %% [markdown]
# This was made for counts of pass and fail. Our $v_i$ may lie between, so $m$ gives way to the number of
# tasks that *only* pass or fail and would be as informative:
#
# $$ m_{\text{eff}} = \frac{v\,(1 - v)}{\text{SE}^2} . $$
#
# (`evalkit` lowers it a little where few tasks carry all the information.)

# %%
for k in (1, 4, 8):
    e = estimate(counts, k)
    effective = e.value * (1 - e.value) / e.se**2
    print(f"pass^{k} {e.value:.3f} in [{e.low:.3f}, {e.high:.3f}], m_eff {effective:.0f}")

# %% [markdown]
# Read the last line so: on tasks of this kind, pass^8 lies between 0.097 and 0.226, says a method that
# is right 95 times in 100. At k = n = 8 the effective number is as good as the number of tasks: each says
# yes or no. At k = 1 a task says more, because its eight trials place it between the two.

# %% [markdown]
# ## Does it hold what it promises?
#
# "95%" is a promise: of a hundred such intervals, about 95 hold the truth. A simulation knows the truth,
# so it can test this. Two rivals: the *normal* interval from above, and the *pooled* one. That one takes
# all trials for independent, makes an interval for pass^1, and raises its ends to the k-th power.
#
# > **Predict.** How often does each hold the truth, on small and on large suites?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.simulate.coverage import coverage_table

coverage = coverage_table(suites=2000, seed=0)
methods = ["wilson", "normal", "pooled p^k"]
shown = coverage[["tasks", "trials", "k", "true pass^k"]].round(3)
shown.join((100 * coverage[methods]).round(1))

# %%
figure = new_figure(height=380)
plots.draw_coverage(figure, coverage)
low, high = 100 * coverage["wilson"].min(), 100 * coverage["wilson"].max()
captioned(
    figure,
    caption=f"Wilson's interval holds the truth in {low:.1f} to {high:.1f}% of suites. The normal one "
    "fails where few tasks pass, or few fail; the pooled one almost everywhere.",
    alt="Twelve kinds of suites. Dots hug the line at 95; squares stray far left in four rows; crosses "
    "lie mostly at zero.",
)

# %% [markdown]
# Each row is a kind of suite; 2,000 of each were drawn and run, so a true 95 can read 94 or 96. The truth
# is that of all tasks of the kind. Row 5 is our suite's kind: 0.131, and its interval above holds it.
#
# The pooled interval is worse than too narrow: it aims at the naive power, so more tasks make it surer
# of the wrong number.
#
# *A good place for a break: from here on it is about what to do with an interval.*

# %% [markdown]
# ## New tasks, or these tasks?
#
# Two people read your interval. One sells the agent and asks how it will do on **new tasks** like
# these. One maintains it and asks what **these tasks** would give if run again: has the last change
# broken anything?
#
# > **Predict.** Whose interval is wider?
# >
# > Your guess (double-click here to write it): ...

# %%
longer = suite_counts(run_suite(suite, 16, np.random.default_rng(5)), trials=16)
for question in ("new tasks", "these tasks"):
    e = estimate(longer, k=8, question=question)
    print(f"{question}: {e.value:.3f} in [{e.low:.3f}, {e.high:.3f}], SE {e.se:.3f}")

# %% [markdown]
# For new tasks, luck has two parts: which tasks were drawn, and how their trials went. For these tasks
# the first part is gone. The wide interval is about the kind's 0.131, the narrow one about this
# suite's own 0.117, and each holds its truth.
#
# Why 16 trials all of a sudden?

# %%
try:
    estimate(counts, k=8, question="these tasks")
except ValueError as error:
    print(error)

# %% [markdown]
# Eight trials hold one group of eight. One look at a task cannot tell how much a second look would
# differ. Say which question you answer; "new tasks" is the default, because it is what most readers of
# a benchmark take away.

# %% [markdown]
# ## How many tasks, how many trials?
#
# The variance of one task's estimate has a part **between** tasks, $\sigma_b^2$, which stays however
# often you run them, and a part **within** a task, $\sigma_w^2(n)$, which shrinks with the trials
# $n$. Over $m$ tasks `standard_error` puts them together:
#
# $$ \text{SE}^2 = \frac{\sigma_b^2 + \sigma_w^2(n)}{m} . $$
#
# > **Predict.** You have 960 trials to spend. For pass^1, many tasks or many trials? For pass^8?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.planning import standard_error

budget = [(k, n) for k in (1, 8) for n in (1, 2, 4, 8, 12, 16, 32) if n >= k]
errors = [standard_error(suite.success, k, tasks=960 // n, trials=n) for k, n in budget]
spent = pd.DataFrame(budget, columns=["k", "trials"])
spent["tasks"] = 960 // spent["trials"]
spent["SE"] = [f"{error:.3f}" for error in errors]
spent.pivot(index=["trials", "tasks"], columns="k", values="SE").fillna("undefined")

# %% [markdown]
# For pass^1, run as many tasks as there are, once each. For pass^8 a task costs at least eight trials,
# and a few more do hardly any harm: steadier tasks nearly make up for fewer.
#
# If making a task costs something as well, trials get cheaper by comparison. `plan` looks for the
# cheapest design that reaches a goal:

# %%
from evalkit.planning import plan

for cost in (0, 20, 100):
    print(plan(suite.success, k=8, half_width=0.05, cost_per_task=cost))

# %% [markdown]
# Costs are in trials: here writing a task, with its goal and its grader, costs as much as 0, 20 or 100.
# The dearer a task, the fewer, and the longer each is run.
#
# The first argument says what tasks are like. Here we know it. In practice, fit the spread of $P$ over
# tasks to a pilot run (`evalkit.extrapolation.beta_binomial_fit`), and plan again when more has been run.

# %% [markdown]
# ## Panel: the planner
#
# The curve is the cost of the whole for each number of trials, with as many tasks as the interval then
# needs. The dot is the cheapest design. The tasks are the suite builder's, so the plan is not that of
# our drawn suite.
#
# **Think about:** halve the half-width. By what factor does the cost grow? Why does the number of
# trials hardly move?

# %%
plots.plan_panel()

# %% [markdown]
# ## Two agents on the same tasks
#
# The next version of our agent fails a fifth fewer steps, on every task: better beyond doubt.

# %%
better = suite.with_fewer_failures(0.2)
for k in (1, 8):
    print(f"pass^{k}: {suite.pass_hat_k(k):.3f} and {better.pass_hat_k(k):.3f}")

# %% [markdown]
# > **Predict.** Each runs 8 trials of the 120 tasks. Do their intervals for pass^1 overlap? Would you
# > see which is better?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.comparison import compare

# A typical run, chosen for a lead close to the true one. What others show comes below.
theirs = suite_counts(run_suite(better, 8, np.random.default_rng(9)), trials=8)
for e in (estimate(counts, k=1), estimate(theirs, k=1)):
    print(f"{e.value:.3f} in [{e.low:.3f}, {e.high:.3f}]")
both = compare(counts, theirs, k=1)
print(f"lead {both.difference:.3f} in [{both.low:.3f}, {both.high:.3f}], p = {both.p_value:.3f}")

# %% [markdown]
# The intervals overlap, and yet the comparison is clear: the lead lies between 0.018 and 0.089, and zero
# outside. Most of each agent's interval is about *which tasks were drawn*, and both had the same ones.
# Take the difference task by task, and that part cancels.

# %%
figure = new_figure(height=420)
plots.draw_pairs(figure, counts["c"] / 8, theirs["c"] / 8)
captioned(
    figure,
    caption="Tasks that are hard for one agent are hard for the other. The second is better on "
    f"{both.better} tasks, worse on {both.worse}.",
    alt="A cloud of 120 points along the diagonal, more of them above it than below.",
)


# %% [markdown]
# How often would it be seen? Repeat the whole comparison, and count the results that are called
# significant at 5%. That share is the *power*.
#
# > **Predict.** The power for pass^1, paired and not paired. And for pass^8?
# >
# > Your guess (double-click here to write it): ...


# %%
def power(k, n):
    rng = np.random.default_rng(7)
    u, v = (pass_hat_k(n, run_suite(s, n, rng, repeats=4000), k) for s in (suite, better))
    lead, m = (v - u).mean(axis=1), 120
    paired = (v - u).std(axis=1, ddof=1) / np.sqrt(m)
    unpaired = np.hypot(u.std(axis=1, ddof=1), v.std(axis=1, ddof=1)) / np.sqrt(m)
    return [np.mean(abs(lead) > t.ppf(0.975, m - 1) * error) for error in (paired, unpaired)]


designs = [(1, 8), (1, 16), (8, 8), (8, 16), (8, 48)]
index = [f"pass^{k}, {n} trials" for k, n in designs]
pd.DataFrame([power(*d) for d in designs], index, ["paired", "not paired"]).round(2)

# %% [markdown]
# Unpaired, three in four experiments miss a real improvement. Paired, four in five find it, at no cost.
#
# pass^8 needs much more: at $n = 8$ most of its noise lies within tasks, and that part does not
# cancel. So look for a difference in pass^1 and report pass^8 beside it, or plan for it. (The cost
# counts the trials of both agents.)

# %%
for k in (1, 8):
    print(plan(suite.success, k=k, rival=better.success, power=0.8, max_tasks=120))

# %% [markdown]
# With several agents, luck gets several chances. Pass all p-values through `evalkit.comparison.holm`
# before you read any at 5%.

# %% [markdown]
# ## What these numbers rest on
#
# - **Our suite is one draw.** The source note has its own: 120 tasks, 4 to 30 steps, 8 trials. Neither
#   is *the* answer, so we draw two thousand such suites, run each, and ask where both stand.

# %%
from evalkit.simulate.suites import percentiles, suite_figures

rng = np.random.default_rng(5)
many = draw_suite(rng, tasks=120, redraws=2000)
redraws = suite_figures(many, run_suite(many, 8, rng), trials=8)
ours = suite_figures(suite, counts["c"].to_numpy(), trials=8)
powers = redraws["true pass^1"] ** 8
ordered = (redraws["true pass^8"] > powers) & (powers > redraws["homogeneous step model"])
print(f"truth above naive power above homogeneous model: {ordered.mean():.1%} of redraws")

# %%
note = {"true pass^1": 0.621, "true pass^8": 0.122, "estimated pass^8": 0.100}
stated = pd.DataFrame({"note": note, "ours": {name: ours[name] for name in note}})
for whose in ("note", "ours"):
    stated[f"percentile of {whose}"] = percentiles(stated[whose].to_dict(), redraws)
stated.round(3).round({"percentile of note": 0, "percentile of ours": 0})

# %% [markdown]
# Both suites are ordinary members of one family, and the order of the three is no matter of luck.
#
# - **Tasks are drawn at random**, and r and n of a task have nothing to do with each other. An interval
#   for new tasks is about tasks found in the same way: for a suite of picked cases it means nothing.
# - **Trials of a task are independent.** An outage fails many at once (chapter 09).

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("08.a")

# %%
two_suites = {"smallest pass^8": ..., "largest pass^8": ...}
check("08.a", two_suites)

# %%
show("08.b")

# %%
faults = {"A": ..., "B": ..., "C": ..., "D": ..., "E": ...}
check("08.b", faults)

# %%
show("08.c")

# %%
all_passed = ...
check("08.c", all_passed)

# %%
show("08.d")

# %%
questions = {"shop": ..., "fix": ..., "ranking": ..., "contracts": ...}
check("08.d", questions)

# %%
show("08.e")


# %%
def paired_lead(first, second):
    return ...


check("08.e", paired_lead)

# %% [markdown]
# ## Key points
#
# - The mean of powers is at least the power of the mean: from pass^1 you cannot compute pass^k.
#   Measure it, with at least k trials of each task, better 2k.
# - The unbiased estimate is right on average and noisy. The naive power is steady and wrong.
# - An interval needs a method that keeps its promise, also where all tasks pass. Count tasks, not trials.
# - Say whether it is about new tasks or these tasks.
# - Compare agents on the same tasks, task by task.
#
# **Next:** [09, flaky environments](09_flaky_environments.ipynb): when it was not the agent that failed.
#
# **Sources.** pass^k: Yao et al., *τ-bench* (2024); its estimator follows Chen et al. (2021). Standard
# errors and paired differences: Miller, *Adding Error Bars to Evals* (2024). Small suites: Bowyer et
# al. (2025). Wilson with an effective sample size: Franco et al. (2019). Several comparisons: Holm
# (1979).
