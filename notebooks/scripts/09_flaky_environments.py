# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 09 Flaky environments: whose failure was it?
#
# **The agent did nothing wrong, and its score fell. What was measured?**
#
# You will be able to
#
# - say what failures of the environment make of pass^1 and of pass^k, by simulation and by formula;
# - tag failures by whose they are, run the right ones again, and report what is missing;
# - tell what no tag can see: silent faults, a user who words things differently, a cache.
#
# *Reading: 55 minutes. Exercises: 43 minutes. Needs: chapters 01 and 07.*

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
# ## The agent that never errs
#
# The records of chapter 01 now stand behind a web service on your machine, as most tools do.
# (In a browser edition the same service is called without a network.) The agent makes every edit
# right, and nothing else. We ask eight times.

# %%
from evalkit.runner import Setup, run_suite
from evalkit.simulate import SCENARIO
from evalkit.simulate.agents import Agent, simulated
from evalkit.simulate.service import Faults, Service

perfect = simulated(Agent("never errs", edit=1, write=0, claim_unfinished=1), SCENARIO)
with Service(SCENARIO) as service:
    calm = run_suite(Setup("never errs", ["move"], 8), service.harness(perfect))
calm["tag"].value_counts().to_dict()


# %% [markdown]
# Services fail. This one is told to: in one episode of twenty, at some call, it does not answer, or
# answers "unavailable" (HTTP 503), or crashes. A seed decides when. The agent is the same. The suite
# has 20 tasks of 8 trials. They are all this one job, so that none is harder.
#
# > **Predict.** What share of the trials passes? What share of the tasks passes all eight?
# >
# > Your guess (double-click here to write it): ...


# %%
def score(rows):
    passed = (rows["tag"] == "agent success").groupby(rows["task"])
    return {"pass^1": float(passed.mean().mean()), "pass^8": float(passed.all().mean())}


FLAKY = Faults(timeout=0.02, server_error=0.02, crash=0.01)
tasks = [f"job {i}" for i in range(1, 21)]
with Service(SCENARIO, FLAKY) as service:
    once = run_suite(Setup("never errs", tasks, 8, retries=0), service.harness(perfect))
score(once)

# %%
from evalkit.course.figures import captioned, new_figure
from evalkit.course.plots import chapter_09 as plots

figure = new_figure(height=280)
plots.draw_trials(figure, once.pivot(index="task", columns="trial", values="tag").loc[tasks])
captioned(
    figure,
    caption=f"{once['infra'].sum()} of {len(once)} trials met a flake. "
    f"{score(once)['pass^8'] * 20:.0f} of 20 tasks passed all eight (shaded).",
    alt="20 columns of eight marks, a few triangles strewn over them. A column with one is not shaded.",
)

# %% [markdown]
# The agent is perfect. Its pass^1 lost about a twentieth, its pass^8 many times as much. A single flake
# among eight trials spoils the task, and there are eight chances for one.

# %% [markdown]
# ## Four thousand suites
#
# That was one suite, and one draw of luck. Now many, and an agent that errs: 200 tasks of 8 trials, each
# trial with a *true success* of 0.70. The *flake rate* is the share of attempts that the environment
# fails. Three ways to deal with failures:
#
# - **nothing** is retried, and whatever failed counts as a failure;
# - **infra failures** are told apart, and retried up to three times;
# - **any failure** is retried up to three times.
#
# > **Predict.** True pass^1 is 0.70. With a flake rate of 5%, what do the three measure, for pass^1 and
# > for pass^8?
# >
# > Your guess (double-click here to write it): ...

# %%
import numpy as np

from evalkit.simulate.flakes import flake_table

suites = flake_table(np.random.default_rng(9), suites=4_000, tasks=200, trials=8, success=0.7)
wide = suites.pivot(index="flake rate", columns="retried", values=["pass^1", "pass^8"])
wide[[(k, way) for k in ("pass^1", "pass^8") for way in plots.WAYS]].round(4)

# %% [markdown]
# How sure are these numbers? The largest standard error of each column:

# %%
suites.groupby("retried", sort=False)[["pass^1 SE", "pass^8 SE"]].max().round(5)

# %%
figure = new_figure(height=320)
plots.draw_flakes(figure, suites)
captioned(
    figure,
    caption="Only one of the three stays where the truth is. Without retries pass^8 falls by more "
    "than half at a flake rate of 10%; with any failure retried it is far too high throughout.",
    alt="Two plots of three lines over the flake rate. The middle line is level in both, the lower "
    "falls, faster for pass^8. The upper lies near 1.",
)

# %% [markdown]
# *infra failures* does not move. *nothing* falls, a little for pass^1 and a lot for pass^8. *any failure*
# is not even close: an agent that fails three times in ten comes out as one that hardly ever does.

# %% [markdown]
# ## The formula
#
# An attempt succeeds if the environment holds *and* the agent succeeds:
#
# $$ \text{measured pass}^k = \left((1-f)\,P\right)^k = (1-f)^k\,P^k . $$
#
# $f$ is the flake rate, $P$ the agent's true success on the task, $k$ the number of trials that must
# all succeed. The factor $(1-f)^k$ is the environment's, whatever the agent.

# %%
import pandas as pd

factor = pd.DataFrame({"flake rate": [0.01, 0.02, 0.05, 0.10]})
for k in (1, 8):
    factor[f"factor on pass^{k}"] = (1 - factor["flake rate"]) ** k
factor.round(2)

# %% [markdown]
# One in twenty costs pass^1 5%, and leaves pass^8 0.66 of its value. With retries a trial is lost only
# if all of its attempts meet a flake:
#
# $$ \left((1-f^{\,r+1})\,P\right)^k , \qquad \text{any failure:}\quad
#    \left(1 - (1-(1-f)P)^{\,r+1}\right)^k . $$
#
# $r$ is the largest number of retries, so $r + 1$ that of attempts.

# %%
from evalkit.infra import measured_pass_hat_k

print(f"truth                   {0.7**8:.4f}")
print(f"nothing retried         {measured_pass_hat_k(0.7, 0.05, k=8):.4f}")
print(f"infra failures retried  {measured_pass_hat_k(0.7, 0.05, k=8, retries=3):.4f}")
print(f"any failure retried     {measured_pass_hat_k(0.7, 0.05, k=8, retries=3, mistaken=1):.4f}")
off = (suites["pass^8"] - suites["pass^8 expected"]) / suites["pass^8 SE"]
print(f"farthest of the {len(off)} simulated values: {off.abs().max():.1f} standard errors")

# %% [markdown]
# The right retry gives the truth back to every digit shown, and the suites agree with the formulas.
#
# What is the wrong retry? Four attempts, one must succeed: that is pass@4. All eight trials must get
# that far. So *any failure* is a pass@4, to the eighth power. It hides the very inconsistency that
# pass^8 was to show.

# %%
from evalkit.steps import step_pass_at_k

pass_at_4 = step_pass_at_k(0.95 * 0.7, n=1, k=4)
print(f"pass@4 = {pass_at_4:.4f}, and to the eighth power {pass_at_4**8:.4f}")

# %% [markdown]
# ## The same for real
#
# Back to the service, with an agent that succeeds nine times in ten. `run_suite` retries infra failures
# and nothing else, each time on a fresh store, and writes every attempt to a log.

# %%
import tempfile
from pathlib import Path

from evalkit.runlog import read_log

nine = simulated(Agent("nine in ten", 0.9 ** (1 / len(SCENARIO.edits)), 0, 1), SCENARIO)
setup = Setup("nine in ten", tasks, trials=8, retries=3, max_steps=20)
with tempfile.TemporaryDirectory() as folder, Service(SCENARIO, FLAKY) as service:
    run_suite(setup, service.harness(nine, max_steps=20), Path(folder) / "run.jsonl")
    log = read_log(Path(folder) / "run.jsonl")
print(f"{len(log)} attempts for {len(tasks) * 8} trials")

# %% [markdown]
# One row an attempt, and nothing is overwritten. Had the run been cut off, it would go on from this log.
# Here are the first trials that needed a retry, and the *infra rate*, with an interval. It is reported by
# itself: an environment that fails this often is a finding.

# %%
from evalkit.infra import infra_rate

again = log.groupby(["task", "trial"])["attempt"].transform("size") > 1
print("rate {:.3f}, interval [{:.3f}, {:.3f}]".format(*infra_rate(log["infra"].sum(), len(log))))
log.loc[again, ["task", "trial", "attempt", "tag", "kind", "steps"]].head(6)

# %% [markdown]
# The wrong retry can be had as well. It takes a careless harness, which calls every failure the
# environment's.
#
# > **Predict.** The agent passes 90% of its trials. What will the three ways print?
# >
# > Your guess (double-click here to write it): ...

# %%
from dataclasses import replace


def careless(harness):
    def play(opened, task, rng):
        outcome = harness.play(opened, task, rng)
        passed = outcome.verdict == "pass" and not outcome.error
        return outcome if passed else replace(outcome, error="environment failure")

    return replace(harness, play=play)


# %%
from evalkit.runlog import trial_rows

with Service(SCENARIO, FLAKY) as service:
    wrong = run_suite(setup, careless(service.harness(nine)))
three = {
    "nothing": score(log[log["attempt"] == 0]),
    "infra failures": score(trial_rows(log, tasks, 8)),
    "any failure": score(trial_rows(wrong, tasks, 8)),
}

# %%
real = pd.DataFrame(three).T.rename_axis("retried")
ways = {"nothing": (0, 0), "infra failures": (3, 0), "any failure": (3, 1)}
for k in (1, 8):
    real[f"pass^{k} expected"] = [
        measured_pass_hat_k(0.9, 0.05, k, r, mistaken=m) for r, m in ways.values()
    ]
real.round(3)

# %% [markdown]
# With twenty tasks pass^8 is a rough number, and it lies where it should. All three come from the same
# agent, on the same service, with the same luck in the first attempts. Only the rule of the retry
# differs.

# %% [markdown]
# ## Whose failure was it?
#
# Everything hangs on the tag. `CAUSES` is the table that `run_suite` goes by, first match first:

# %%
from evalkit.infra import CAUSES, classify

pd.DataFrame([(cause.kind, cause.tag) for cause in CAUSES], columns=["kind", "whose"])

# %% [markdown]
# A tool that does not answer is the environment's. A context that overflows is the agent's: it filled
# it, and would again. So is a budget that is used up.
#
# > **Predict.** Whose are these: HTTP 429, HTTP 503, "context window exceeded", "max_steps", and a
# > `KeyError`?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.infra import outcome_tag

met = [429, 503, "context window exceeded", "max_steps", KeyError("status")]
tags = [outcome_tag(None, steps=3, error=error) for error in met]
pd.DataFrame(tags, index=[repr(error) for error in met], columns=["tag", "kind"])

# %% [markdown]
# The last is in no row of the table. It may be anybody's, so it is *not evaluated*: neither a pass nor a
# failure, and not run again until somebody has looked. Then it gets a row. Rows of your own go first:

# %%
from evalkit.infra import INFRA_FAILURE, Cause

mine = (Cause("page not rendered", INFRA_FAILURE, errors=("RenderError",)), *CAUSES)
classify("RenderError: checkout page", mine).tag

# %% [markdown]
# ## When the tag is wrong
#
# It can be wrong in two ways. An infra failure is *missed*, and counts as the agent's. Or a failure of the
# agent is *mistaken* for infra, and is run again.
#
# > **Predict.** The flake rate is 5%, with three retries. Which is worse for pass^8: a fifth of the infra
# > failures missed, or a fifth of the agent's mistaken?
# >
# > Your guess (double-click here to write it): ...

# %%
shares = pd.Index([0.0, 0.05, 0.2, 0.5, 1.0], name="share with the wrong tag")
lies = pd.DataFrame(index=shares)
lies["infra missed"] = measured_pass_hat_k(0.7, 0.05, 8, retries=3, missed=shares)
lies["agent mistaken"] = measured_pass_hat_k(0.7, 0.05, 8, retries=3, mistaken=shares)
pd.concat({"pass^8": lies.round(3), "times the truth": (lies / 0.7**8).round(2)}, axis=1)

# %%
figure = new_figure(height=320)
plots.draw_mistagged(figure)
captioned(
    figure,
    caption=f"A fifth of the infra failures missed: pass^8 is {lies['infra missed'][0.2] / 0.7**8:.2f} "
    f"of the truth. A fifth of the agent's mistaken: {lies['agent mistaken'][0.2] / 0.7**8:.2f} times it.",
    alt="Two lines that start at the true value. One sinks a little, the other climbs to near 1.",
)

# %% [markdown]
# Missing some makes the agent look a bit worse. Mistaking some makes it look much better, because the
# agent fails more often than the environment, and each mistake is another chance. So when in doubt, do
# not retry: let somebody look.

# %% [markdown]
# ## Panel: what is left of the truth?
#
# Solid lines: what is left of pass^1 and pass^8 with the retries that you allow; dashed: with none. The
# dots are at your flake rate.
#
# **Think about:** allow three retries, then lower the share that is detected. How many retries make up
# for it?

# %%
plots.flaky_panel()

# %% [markdown]
# ## Silent faults
#
# The worst fault says nothing. Here each episode loses one write: the service answers 200, as ever, and
# keeps nothing. (An answer that is out of date is another.) Our agent is the one that never errs.
#
# > **Predict.** What does the log of eight trials say, and whose failures are they in it?
# >
# > Your guess (double-click here to write it): ...

# %%
with Service(SCENARIO, Faults(lost_write=1)) as service:
    silent = run_suite(Setup("never errs", ["job"], 8), service.harness(perfect))
    errors = [action.error for action in service.trajectory]
    print(f"answers in the last episode: {len(errors)}, errors: {len(errors) - errors.count(None)}")
    print(f"what struck: {service.struck}")
silent["tag"].value_counts().to_dict()

# %% [markdown]
# Every one counts against the agent, and nothing in the log says otherwise. Only our simulated service
# can tell us what struck.
#
# What can be done? Play the *reference solution* now and then: a program that does the job right. It
# cannot fail, so each of its failures is the environment's.

# %%
with Service(SCENARIO, Faults(server_error=0.08, lost_write=0.04)) as service:
    canary = run_suite(Setup("reference", tasks, 8, retries=0), service.harness(perfect))
seen, unseen = canary["infra"].sum(), (canary["tag"] == "agent failure").sum()
print(f"{seen} detected, {unseen} silent: {seen / (seen + unseen):.0%} are detected")

# %% [markdown]
# We had told it two in three; so few failures give a rough share. Say that at least a share $d$ of infra
# failures is detected. Then the truth lies between the value on the valid trials and
#
# $$ \frac{\text{value}}{(1-u)^k} , \qquad u = \frac{t\,(1-d)}{d\,(1-t)} . $$
#
# $t$ is the share of attempts that are tagged infra, and $u$ the share of the others that may have
# failed silently.

# %%
from evalkit.infra import silent_bounds

rows = []
for d in (1.0, 0.8, 0.5, 0.2):
    t = 0.05 * d  # of a flake rate of 5%, the part that is detected
    value = measured_pass_hat_k(0.7, 0.05, 8, retries=3, missed=1 - d)
    rows.append((d, t, *silent_bounds(value, t, d, k=8)))
pd.DataFrame(rows, columns=["detected d", "tagged t", "low", "high"]).round(4)

# %% [markdown]
# The upper bound is the truth in every row, since we knew $d$. The lower one is what you would have
# printed. If you know nothing about $d$, all you know is that the truth is not lower.

# %% [markdown]
# ## What is missing stays in the report
#
# Retries run out, or the budget does. Then trials are missing, and what is left may be odd.
#
# > **Predict.** Four tasks, one trial each: one success, three infra failures. What is pass^1?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.estimates import estimate
from evalkit.trials import counts, trials_table

rows = pd.DataFrame({"task": list("abcd"), "trial": 0, "success": [True, None, None, None]})
rows["infra"] = rows["success"].isna()
estimate(counts(trials_table(rows, infra="infra"), planned=1))

# %% [markdown]
# A public benchmark's code [says 100%](https://github.com/sierra-research/tau2-bench/issues/493) here,
# and no more. It is 100% *of a quarter*. Three numbers belong together: the value, its coverage (the
# valid of the planned trials), and the *bracket*: where the value would lie had all the missing failed,
# or all succeeded. (One task gives no error, hence `nan`, and an interval of everything.)

# %% [markdown]
# If flakes strike all tasks alike, there is a better way than a wide bracket: divide by the factor. The
# first flaky run had no retries, and an agent whose pass^8 is 1:

# %%
from evalkit.infra import corrected_pass_hat_k

table = counts(trials_table(trial_rows(once, tasks, 8), infra="infra"), planned=8)
value, error = corrected_pass_hat_k(table, k=8)
print(
    f"measured {score(once)['pass^8']:.2f}, corrected {value:.2f} with a standard error of {error:.2f}"
)

# %% [markdown]
# It is right on average, with an error that retries would have spared us. And where long tasks meet more
# flakes, it is wrong. Run again if you can, correct if you must.

# %% [markdown]
# *Half-way: a good place for a break.*
#
# ## The user varies too
#
# Some of the environment's chance is there on purpose. In τ-bench a language model plays the customer,
# and words the same task differently each time. Ours is simpler: it may leave the details of a wish out.

# %%
from evalkit.simulate.users import User, message

plain = User("plain", details=0.8)
for seed in (1, 2):
    said = message(plain, SCENARIO, np.random.default_rng(seed))
    print(said.replace(" Please", "\nPlease"), "\n")

# %% [markdown]
# The agent reads the message. An edit whose details it is told goes right with probability 0.99, one that
# it must guess with 0.6. The log keeps each message, with the user's name and settings.

# %%
from contextlib import nullcontext

from evalkit.runner import Harness, Outcome
from evalkit.simulate.episodes import play
from evalkit.simulate.users import listener
from evalkit.simulate.world import World

told, guessed = 0.99, 0.6
agent = listener(SCENARIO, told, guessed)
jobs = [f"job {i}" for i in range(1, 61)]


# %%
def converse(user, settings, words):
    def trial(world, task, rng):
        said = message(user, SCENARIO, words(task, rng))
        episode = play(lambda call, _, rng: agent(call, said, rng), world, rng)
        trace = [str(action) for action in episode.trajectory]
        return Outcome(episode.verdict.status, len(trace), trace=trace, extra={"message": said})

    setup = Setup("listener", jobs, 8, seed=2, user_model=user.name, user_settings=settings)
    with World(SCENARIO) as world:
        return run_suite(setup, Harness(lambda task, seed: nullcontext(world), trial))


# %%
anew = converse(plain, {"wording": "new for each trial"}, lambda task, rng: rng)
score(anew)


# %% [markdown]
# > **Predict.** Now the user's sampling is turned off: one message for each task, the same in its eight
# > trials. The agent and the user's habits are as before. What happens to pass^1, and to pass^8?
# >
# > Your guess (double-click here to write it): ...


# %%
def once_a_task(task, rng):
    return np.random.default_rng([9, jobs.index(task)])


fixed = converse(plain, {"wording": "one for each task"}, once_a_task)
m = len(SCENARIO.edits)
P = (0.8 * told + 0.2 * guessed) ** m
P8 = (0.8 * told**8 + 0.2 * guessed**8) ** m
wordings = pd.DataFrame({"new for each trial": score(anew), "one for each task": score(fixed)}).T
wordings.assign(**{"pass^1 expected": [P, P], "pass^8 expected": [P**8, P8]}).round(3)

# %% [markdown]
# pass^1 is the same, but for luck. pass^8 is several times as high, and the agent has not changed at
# all. A task that was worded well stays so in all eight trials. It is chapter 08 again: where tasks
# differ, pass^k lies above the power of the mean.

# %% [markdown]
# ## How much of the variance is the user's?
#
# Sort the trials by how many of the wishes came with their details. Within a row, what varies is the
# agent's luck. Between the rows, it is the user's.

# %%
from evalkit.simulate.users import details_given

given = anew["message"].map(lambda text: details_given(text, SCENARIO))
passed = anew["success"].astype(float)
by_details = passed.groupby(given).agg(trials="size", passed="mean")
by_details["formula"] = told**by_details.index * guessed ** (m - by_details.index)
between = passed.groupby(given).transform("mean").var(ddof=0) / passed.var(ddof=0)
exact = ((0.8 * told**2 + 0.2 * guessed**2) ** m - P**2) / (P * (1 - P))
print(f"the user's share of the variance: {between:.0%}; by the formula: {exact:.0%}")
by_details.rename_axis("details given").round(3)

# %%
figure = new_figure(height=300)
plots.draw_wordings(figure, by_details)
captioned(
    figure,
    caption="One agent, one task, and what the user happens to say: by the formula (diamonds) success "
    f"goes from {by_details['formula'].iloc[0]:.0%} to {by_details['formula'].iloc[-1]:.0%}. "
    "Bars: what was seen.",
    alt="Bars for no detail to all of them: short on the left, tall on the right. The diamonds rise all "
    "the way; the bars of few trials lie off theirs.",
)

# %% [markdown]
# More than a quarter of what looks like the agent's inconsistency is the user's wording. That is fair:
# users are like that, and pass^k is to include them. But it must be the same for everybody, for another
# user is another test.

# %% [markdown]
# ## Fix it, and report it
#
# > **Predict.** The same agent, and a user that gives details half of the time. What is its pass^1?
# >
# > Your guess (double-click here to write it): ...

# %%
terse = converse(User("terse", 0.5), {"wording": "new for each trial"}, lambda task, rng: rng)
print(f"plain user: {score(anew)['pass^1']:.2f}, terse user: {score(terse)['pass^1']:.2f}")

# %% [markdown]
# Nothing about the agent changed. A better one, tested with this user, might lose to ours. So the user's
# model and its settings stand on every line of the log, and two runs that differ in them are not
# compared:

# %%
from evalkit.runlog import RunError, check_comparable

for other in (terse, fixed):
    try:
        check_comparable(anew, other)
    except RunError as error:
        print(error, "\n")

# %% [markdown]
# ## Trials that are too much alike
#
# Eight trials tell more than one only if chance has a part in each. A cache can take it away: a public
# tool [answered repeats from its cache](https://github.com/promptfoo/promptfoo/issues/5947). Let us do
# the same. The world answers each task once, and repeats itself seven times.

# %%
from functools import cache


@cache
def answered(task):
    with World(SCENARIO) as world:
        rng = np.random.default_rng([6, tasks.index(task)])
        return play(nine, world, rng).verdict.status


cached = Harness(lambda task, seed: nullcontext(), lambda _, task, rng: Outcome(answered(task), 6))
repeats = run_suite(Setup("nine in ten", tasks, 8), cached)
score(repeats)

# %% [markdown]
# pass^8 is as high as pass^1: each task passes every time, or never. `identical_trials` finds trials of
# one task that agree in every recorded field but their number and seed.

# %%
from evalkit.runlog import identical_trials

alike = identical_trials(repeats)
print(f"flagged: {len(alike)} of {len(tasks)} tasks")
alike.head(2)

# %% [markdown]
# Is every flag a cache? No. Our simulated agents can do few different things, so their trials are often
# alike by chance. The flag says: look.

# %%
sets = {"never errs": once, "listener, words new": anew, "listener, words fixed": fixed}
most = {name: identical_trials(rows)["identical"].map(len).max() for name, rows in sets.items()}
pd.Series(most, name="most alike trials of a task, of 8")

# %% [markdown]
# With the words fixed even eight of eight agree, and there is no cache: this agent can do few things. An
# agent that writes its own sentences is hardly ever alike twice. With it, two identical trials are odd,
# and eight of eight are most likely a cache, or a seed that did not move.

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("09.a")


# %%
def report(tags):
    return ...


check("09.a", report)

# %%
show("09.b")

# %%
one_of_four = ...
check("09.b", one_of_four)

# %%
show("09.c")

# %%
whose = {
    "429": ...,
    "overflow": ...,
    "silence": ...,
    "50 steps": ...,
    "KeyError": ...,
}
check("09.c", whose)

# %%
show("09.d")


# %%
def attempts(run, retries):
    return ...


check("09.d", attempts)

# %%
show("09.e")

# %%
stop_on_pass = {"pass^1": ..., "59 of 72": ...}
check("09.e", stop_on_pass)

# %%
show("09.f")


# %%
def flake_limit(k, keep, retries):
    return ...


check("09.f", flake_limit)

# %% [markdown]
# ## Key points
#
# - A flake rate $f$ leaves pass^k only $(1-f)^k$ of its value: at 5%, pass^8 keeps 0.66.
# - Tag every attempt, retry infra failures only, up to a limit, and report their rate. To retry any failure
#   turns pass^k into something nearer to pass@k.
# - An unknown error is not evaluated. Missing trials stay in the report, as coverage and bracket.
# - Silent faults count against the agent. A reference solution shows how many there are.
# - The simulated user is a part of the test: fix its model and settings, and report them.
#
# **Next:** [10, budgets](10_budgets.ipynb): an agent with more steps is doing another task.
#
# **Sources.** Simulated users and pass^k: Yao et al., *τ-bench* (2024). Resettable environments: Zhou et
# al., *WebArena* (2023); Xie et al., *OSWorld* (2024). The cases are from public issues and pull
# requests, linked where they stand.
