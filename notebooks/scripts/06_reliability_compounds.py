# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 06 Reliability compounds: the step model
#
# **An agent gets nearly every step right. Why does it fail long tasks?**
#
# You will be able to
#
# - compute how often a task of many steps succeeds, and say what the formula assumes;
# - measure an agent's recovery by making its tools fail on purpose;
# - turn a target around: how good each step must be, how long the task may be, how much recovery it takes.
#
# *Reading: 40 minutes. Exercises: 36 minutes. Needs: chapter 01 and a little NumPy.*

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
# ## One long task
#
# The job of chapter 01 takes a few edits. Our long task is that job several times over, each time on
# a fresh copy of the records. A *step* is one edit. The long task succeeds if every one of its steps
# goes right.

# %%
from evalkit.simulate import SCENARIO

edits = len(SCENARIO.edits)
jobs = 20 // edits
n = jobs * edits
print(f"{jobs} jobs of {edits} edits: {n} steps")

# %% [markdown]
# The agent knows the job by heart and makes no mistakes of its own, but its tools fail now and then.
# Either the tool *refuses*, or the write is *lost*: the tool answers as usual, and nothing of it is
# kept. `failing` gives the scenario tools that fail as they are told to. The first edit of the
# job, failing in both ways:

# %%
from evalkit.simulate.recovery import failing
from evalkit.simulate.world import ToolError, World

edit = SCENARIO.edits[0].right
for fault in ("refused", "lost"):
    with World(failing(SCENARIO, [fault])) as world:
        try:
            print(f"{fault}: the answer is {world.call(edit.tool, **edit.arguments)}")
        except ToolError as error:
            print(f"{fault}: {error}")

# %% [markdown]
# An agent that looks can notice such a fault and repair it, so this is not an infra failure
# (chapter 09), which says nothing about the agent. Our first agent does not look. It lets an error
# pass, and takes an answer for done:

# %%
import inspect

from evalkit.simulate.recovery import carry_on

print(inspect.getsource(carry_on))

# %% [markdown]
# We let it do the long task once. `worker` makes an agent of a habit, and with `now_and_then` each
# edit goes right with probability `r`.

# %%
import numpy as np

from evalkit.simulate.episodes import play_many
from evalkit.simulate.recovery import now_and_then, worker

r, silent = 0.97, 0.5  # of the edits that do not go right, a share is lost without a word


def play_jobs(habit, count, seed):
    rng = np.random.default_rng(seed)
    with World(failing(SCENARIO, now_and_then(1 - r, silent, rng))) as world:
        return play_many(worker(SCENARIO, habit), world, count, rng, habit.__name__)


# %%
import pandas as pd

verdicts = [episode.verdict for episode in play_jobs(carry_on, jobs, seed=6)]
rows = [(v.status, edits - len(v.missing), len(v.missing)) for v in verdicts]
job = pd.Index(range(1, jobs + 1), name="job")
pd.DataFrame(rows, columns=["verdict", "steps right", "steps wrong"], index=job)

# %% [markdown]
# Nearly every step went right. The long task failed all the same: one step is enough.
#
# > **Predict.** Of a hundred such long tasks, how many succeed? And how many if not 97 but 99
# > steps of a hundred go right?
# >
# > Your guess (double-click here to write it): ...

# %% [markdown]
# ## Simulate it
#
# We need no database for this. A step is a coin that lands right with probability $r$. An episode is
# the whole long task now: twenty coins. The table gives the share of episodes, in percent, in which
# nothing has gone wrong after so many steps.

# %%
simulated = pd.DataFrame(index=pd.Index(range(1, 21), name="steps"))
for reliability in (0.99, 0.98, 0.97):
    right = np.random.default_rng(1).random((10_000, 20)) < reliability
    simulated[reliability] = 100 * np.logical_and.accumulate(right, axis=1).mean(axis=0)
simulated.loc[[1, 5, 10, 20]].round(1)

# %% [markdown]
# ## The formula
#
# $$ P = r^n $$
#
# $P$ is the probability that the episode succeeds, $r$ the *per-step reliability*, the probability
# that one step goes right, and $n$ the number of steps that must all go right. It assumes that the
# steps do not influence one another: then the probabilities multiply.

# %%
from evalkit.steps import episode_success

for reliability in simulated:
    print(f"r = {reliability}: {episode_success(reliability, 20):.1%}")

# %%
from evalkit.course.figures import captioned, new_figure
from evalkit.course.plots import chapter_06 as plots

figure = new_figure()
plots.draw_compounding(figure, simulated)
captioned(
    figure,
    caption="A step that fails one time in a hundred costs a task of 20 steps "
    f"{1 - episode_success(0.99, 20):.0%} of its episodes; three in a hundred cost it "
    f"{1 - episode_success(0.97, 20):.0%}.",
    alt="Three falling curves, the lower the less reliable the step. Markers lie on each.",
)

# %% [markdown]
# The simulation agrees with the formula. A reliability of 0.99 sounds excellent, and on twenty steps
# about every fifth episode fails.

# %% [markdown]
# ## Recovery
#
# Some agents notice their own mistakes and mend them. Call $\rho$ (rho) the *recovery rate*: the
# share of failed steps that are noticed and mended.
#
# > **Predict.** With $r = 0.97$, twenty steps, and half of the failed steps mended: how many
# > episodes succeed?
# >
# > Your guess (double-click here to write it): ...

# %%
rng = np.random.default_rng(2)
at_once = rng.random((10_000, 20)) < 0.97
mended = rng.random((10_000, 20)) < 0.5
print(f"simulated: {(at_once | mended).all(axis=1).mean():.1%}")

# %% [markdown]
# A step goes right in the end if it goes right at once, or fails and is mended. Its probability is
# $s$, and it takes the place of $r$:
#
# $$ s = r + (1 - r)\,\rho , \qquad P = s^n . $$
#
# In words: of the share $1 - r$ that fails, recovery brings back a share $\rho$.

# %%
print(f"without recovery: {episode_success(0.97, 20):.1%}")
print(f"rho = 0.5:        {episode_success(0.97, 20, rho=0.5):.1%}")

# %% [markdown]
# Mending half of the failures is as good as failing half as often. It is a large gain, and episodes
# in which nothing fails would never have shown it.

# %% [markdown]
# ## Inject a fault, and watch
#
# So recovery is worth measuring by itself. Here are two better habits than carrying on. They differ
# only in how one edit is made. `read_back` reads the record that the edit wrote.

# %%
from evalkit.simulate.recovery import check_work, retry_refused

HABITS = (carry_on, retry_refused, check_work)
for habit in HABITS[1:]:
    print(inspect.getsource(habit))

# %% [markdown]
# We make one tool fail, once, and play the job: at each edit in turn, in each of the two ways.
#
# > **Predict.** Which habit mends which kind of fault?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.simulate.episodes import play


def mends(habit, fault, edit):
    with World(failing(SCENARIO, [""] * edit + [fault])) as world:
        policy = worker(SCENARIO, habit)
        return play(policy, world, np.random.default_rng(0)).verdict.passed


# %%
injected = pd.DataFrame(index=[habit.__name__ for habit in HABITS])
for fault in ("refused", "lost"):
    counts = [sum(mends(habit, fault, edit) for edit in range(edits)) for habit in HABITS]
    injected[fault] = np.array(counts) / edits
injected.map("{:.0%}".format)

# %% [markdown]
# Each habit mends what it notices. A refusal announces itself; a lost write shows only to a habit that
# reads back. While no tool fails, the three look the same. A change proposed to τ-bench also injects
# faults, at random, and counts what the agents do next
# ([pull request](https://github.com/sierra-research/tau-bench/pull/68)).

# %% [markdown]
# ## Recovery in operation
#
# Now faults strike at random again. A habit notices a share of them and makes the edit once more, and
# a second try fails as often as a first. So $\rho$ is the share noticed, times $r$.

# %%
noticed = (1 - silent) * injected["refused"] + silent * injected["lost"]
rho = noticed * r
predicted = pd.DataFrame({"noticed": noticed, "rho": rho, "success": episode_success(r, n, rho)})
predicted.round(3)

# %% [markdown]
# > **Predict.** The last column is the formula's, for the long task. Will the real store agree?
# > Each habit plays many long tasks, job by job. The full diff grades every job, and a long task
# > succeeds if all of its jobs pass.
# >
# > Your guess (double-click here to write it): ...

# %%
long_tasks, played = 200, {}
for habit in HABITS:
    played[habit.__name__] = play_jobs(habit, long_tasks * jobs, seed=7)


# %%
def measured(habit, length):
    """Success of tasks of so many jobs, with the standard error that the formula gives it."""
    passed = np.array([episode.verdict.passed for episode in played[habit]])
    tasks = passed[: len(passed) // length * length].reshape(-1, length).all(axis=1)
    formula = episode_success(r, length * edits, rho[habit])
    error = (formula * (1 - formula) / len(tasks)) ** 0.5
    return habit, length * edits, 100 * tasks.mean(), 100 * error, 100 * formula


# %%
rows = [measured(habit, length) for habit in rho.index for length in range(1, jobs + 1)]
by_length = pd.DataFrame(rows, columns=["habit", "steps", "success", "error", "formula"])
whole = by_length[by_length["steps"] == n].set_index("habit")
whole.round(1)

# %% [markdown]
# In percent. The formula holds, within the luck of 200 long tasks (*error*), for an agent that really acts
# on a database. And the price of it, in calls for one job:

# %%
{habit: np.mean([len(e.trajectory) for e in played[habit]]).round(1).item() for habit in played}

# %%
figure = new_figure()
plots.draw_measured(figure, by_length, r, rho)
captioned(
    figure,
    caption=f"{whole.loc['carry_on', 'success']:.1f}% of the long tasks succeed if the agent carries "
    f"on, {whole.loc['check_work', 'success']:.1f}% if it reads each edit back.",
    alt="Three falling curves, one a habit; checking stays near the top. Measured markers lie on each.",
)

# %% [markdown]
# One part of $\rho$ came from the habit, the other from the *kind* of fault. So $\rho$ belongs to an
# agent together with its tools. What if more of the faults were silent?

# %%
for share in (0.1, 0.5, 0.9):
    retried = (1 - share) * r
    print(f"{share:.0%} silent: retrying succeeds {episode_success(r, n, retried):.1%}")

# %% [markdown]
# Silent faults are real. In one open-source agent system every write failed for hours, while each job
# reported that it was completed ([report](https://github.com/garrytan/gbrain/issues/4217)). Nobody
# had read the records back.
#
# *A good place for a break: the rest turns the formula round.*

# %% [markdown]
# ## Turn it round
#
# A customer states the target $P$, not $r$. Solved for the step:
#
# $$ s = P^{1/n} , \qquad r = \frac{s - \rho}{1 - \rho} . $$
#
# $s$ is what a step needs in the end, and $r$ what its first try needs, if a share $\rho$ of the
# failures is mended.

# %%
from evalkit.steps import required_reliability

lengths = [5, 10, 20, 50, 100]
needed = {f"rho = {x}": required_reliability(0.9, lengths, rho=x) for x in (0.0, 0.5, 0.9)}
pd.DataFrame(needed, index=pd.Index(lengths, name="steps")).round(4)

# %% [markdown]
# This is for a success of 90%. Without recovery a task of a hundred steps asks for about one failure
# in a thousand. Where nine of ten failures are mended, one in a hundred will do.
#
# Or the reliability is given, and the length is yours to choose. The *horizon* is the most steps that
# a task may have: $n = \log P / \log s$, rounded down.
#
# > **Predict.** With $r = 0.99$ and no recovery: how many steps for 50%? And for 99%?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.steps import horizon

rates, targets = [0.999, 0.99, 0.98, 0.97], [0.5, 0.8, 0.9, 0.99]
columns = [f"{target:.0%}" for target in targets]
steps = [horizon(targets, rate) for rate in rates]
pd.DataFrame(steps, columns=columns, index=pd.Index(rates, name="r")).astype(int)

# %%
figure = new_figure()
plots.draw_horizons(figure, 0.99, 0.0)
captioned(
    figure,
    caption=f"With r = 0.99, a task of {horizon(0.5, 0.99):.0f} steps succeeds half of the time. To "
    f"succeed 99 times in 100, the longest that it may be is {horizon(0.99, 0.99):.0f}.",
    alt="A falling curve with four points: the longest task at 99, 90, 80 and 50 percent.",
)

# %% [markdown]
# The length that is published of an agent is usually the one at 50%. A customer asks for a place
# higher up the curve, and the formula says where that is, whatever $r$ may be:

# %%
for target in (0.8, 0.9, 0.99):
    print(f"{target:.0%}: 1/{np.log(0.5) / np.log(target):.0f} of the length at 50%")

# %% [markdown]
# Ord (2025) reads published results of agents in this way, with a constant risk of failing in each
# minute: a half-life. He has since reported a second analysis, in which the risk falls as a task goes
# on ([comment](https://ea.greaterwrong.com/posts/qz3xyqCeriFHeTAJs/is-there-a-half-life-for-the-success-rates-of-ai-agents-3/comment/M6y2dsuXqShcQoWWD)).
# Take the fractions as a rule of thumb.
#
# The third unknown is recovery. How much of what fails must be mended for a success of 90%?

# %%
from evalkit.steps import required_recovery

rates = [0.99, 0.98, 0.97, 0.95, 0.9]
recovery = {f"{length} steps": required_recovery(0.9, rates, length) for length in (10, 20, 50)}
pd.DataFrame(recovery, index=pd.Index(rates, name="r")).round(2)

# %% [markdown]
# Steps that fail one time in ten can still carry a task of twenty, if nearly every failure is noticed
# and mended. A check after each edit is often easier to build than a much better model.

# %% [markdown]
# ## Panel: reliability, recovery, length
#
# The thick line is your setting, the dotted one the same agent without recovery. Grey lines and the
# lower rows of the table keep the chapter's settings in view.
#
# **Think about:** from where the sliders stand, which gains more: one point of $r$, or twenty points of
# $\rho$? From which $r$ on is it the other way round?

# %%
plots.success_panel()

# %% [markdown]
# ## What these numbers rest on
#
# - **Steps depend on one another.** A misunderstanding at the start spoils what follows (chapter 11).
# - **Tasks differ.** One $r$ and one $n$ for a whole suite mislead (chapter 08).
# - **Recovery can do harm.** A second try after a write that *did* happen does it twice (exercise 06.c).
# - **Not every step must go right.** Where two ways lead to the goal, the model is too hard.

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("06.a")


# %%
def recovery_rate(log):
    return ...


check("06.a", recovery_rate)

# %%
show("06.b")


# %%
def steps_affordable(target, r, rho):
    return ...


check("06.b", steps_affordable)

# %%
show("06.c")


# %%
def pay_once(pay, paid):
    return ...


check("06.c", pay_once)

# %%
show("06.d")

# %%
hour_long = ...
check("06.d", hour_long)

# %% [markdown]
# ## Key points
#
# - If all $n$ steps must go right, success is $r^n$: a little less in a step is a lot less in a task.
# - Recovery puts $s = r + (1 - r)\rho$ in the place of $r$. Measure it by injecting faults: while
#   nothing fails, it does not show.
# - An agent mends what it notices. Reading back finds what no error message tells.
# - The length at 50% is far from the length at 99%.
#
# **Next:** [chapter 07](07_every_time.ipynb) asks for success every time. That is as hard as a longer
# task.
#
# **Sources.** Yao et al. 2024, *τ-bench*. Kwa et al. 2025, *Measuring AI Ability to Complete Long
# Tasks*. Ord 2025, *Is there a Half-Life for the Success Rates of AI Agents?*
