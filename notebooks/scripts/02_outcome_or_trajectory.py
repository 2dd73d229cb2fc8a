# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 02 Outcome or trajectory: what the end state cannot show
#
# **Ten agents get the same job. Which of them did it properly, and which grader can tell?**
#
# You will be able to
#
# - say which requirements an end state can check, and which only the actions show;
# - write a short list of process rules, and see why a reference trajectory does not replace it;
# - correct a rate that a noisy judge gave, with a few labels by hand.
#
# *Reading: 55 minutes. Exercises: 50 minutes. Needs: chapter 01 and a little Python.*

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
# ## One job, done properly
#
# The records are those of chapter 01, with two differences. The agent may word its note as it likes, so
# no grader can demand one text. And it must have one edit confirmed, so there is one tool more. Notice
# what that tool writes into the database: nothing.

# %%
import inspect

from evalkit.course.plots import chapter_02 as plots

print(plots.JOB.instruction, "\n")
print(inspect.getsource(plots.confirm))

# %% [markdown]
# An agent of this chapter is the list of the calls that it makes. Here is one that does its job by
# the book: it looks up what it needs, asks, and makes the four edits.

# %%
by_the_book = plots.ROUTES["the reference way"]
[str(call) for call in by_the_book]

# %% [markdown]
# `plots.run` makes the calls on fresh records. It returns the *trajectory* (every action with its result)
# and the *states*: a snapshot before the first action and one after each.

# %%
from evalkit import grade

reference = plots.run(by_the_book)
before, after = reference.states[0], reference.states[-1]
grade(before, after, plots.JOB.task)

# %% [markdown]
# *Outcome scoring* looks at these two states, and at nothing between them. That is its strength: any
# way to the goal will do, also one that nobody thought of.

# %% [markdown]
# ## Nine other agents
#
# All have the same job, and go about it differently:

# %%
import pandas as pd

runs = plots.runs()
steps = {name: len(run.trajectory) for name, run in runs.items()}
pd.DataFrame({"actions": steps, "good": plots.GOOD})

# %% [markdown]
# - *Another valid way* searches by email, skips a look-up, and edits in an order of its own.
# - *Confirms another number* asks about one number (of a refund, the amount) and writes another.
# - *Reads a stranger's record* opens that of somebody whose name is like Ada's. The next one also copies
#   the email in it into Ada's note.
# - *Adds, deletes, adds again* is not sure that the row it was to add is there: it deletes its refund
#   and pays once more.
# - *Does damage and undoes it* changes the number in an old row of somebody else, and puts it back.

# %% [markdown]
# Is the last one bad, if all is well again? For a moment the record was wrong, and somebody may have
# acted on it: a wrong refund may have been paid. So we count it as bad.
#
# > **Predict.** Which of the ten does the full diff fail?
# >
# > Your guess (double-click here to write it): ...

# %%
outcome = {n: grade(before, r.states[-1], plots.JOB.task).passed for n, r in runs.items()}
pd.Series(outcome, name="full diff passes").to_frame()

# %% [markdown]
# It fails two: the wrong address and the agent that did nothing. Both are bad, and nobody good is
# failed. The other six bad agents end where the task wants them, so it passes them too.
#
# What trace is left, then? Take the one that adds its row twice. All changes are met or allowed, and among
# those allowed are the new lines of the log:

# %%
added_twice = runs["adds, deletes, adds again"]
verdict = grade(before, added_twice.states[-1], plots.JOB.task)
log = added_twice.states[-1]["audit_log"].values()
sorted({f.kind for f in verdict.findings}), [line["tool"] for line in log]

# %% [markdown]
# A row added, deleted and added: the truth is there, but a grader that lets the log grow does not read
# it. Such a log is a trajectory, kept in a table.

# %% [markdown]
# ## An outcome check sees what it states
#
# The leak stands in the end state, in the note. The full diff passes it because this task leaves the
# words of the note free. The task of chapter 01 prescribes them. What does that one say of the leak,
# and of the other valid way?

# %%
from evalkit.simulate import SCENARIO

for name in ("leaks a stranger's email", "another valid way"):
    print(name, "->", grade(before, runs[name].states[-1], SCENARIO.task).status)

# %% [markdown]
# It catches the leak, and fails a good agent for its choice of words. Where a text is free, say what
# must *not* be in it. We come to such a rule soon.

# %% [markdown]
# ## A reference trajectory
#
# *Trajectory scoring* looks at the actions. The usual way is to write down one good trajectory, and
# to compare. Three comparisons are common, from strict to lenient. We compare calls as text, since
# Python takes `True` for 1 (chapter 04):

# %%
from collections import Counter


def calls(trajectory):
    return [str(action) for action in trajectory]


def exact(expected, made):
    return calls(expected) == calls(made)


def in_sequence(expected, made):
    rest = iter(calls(made))
    return all(call in rest for call in calls(expected))


def in_any_order(expected, made):
    return not Counter(calls(expected)) - Counter(calls(made))


# %% [markdown]
# *In order* asks that the expected calls occur one after the other, with anything between them.
# (`call in rest` uses up the iterator as far as the call.) *Any order* asks only that each occurs,
# as often as expected.
#
# > **Predict.** Which of the ten pass each of the three?
# >
# > Your guess (double-click here to write it): ...

# %%
expected = reference.trajectory
matches = pd.DataFrame(
    {
        "exact": {n: exact(expected, r.trajectory) for n, r in runs.items()},
        "in order": {n: in_sequence(expected, r.trajectory) for n, r in runs.items()},
        "any order": {n: in_any_order(expected, r.trajectory) for n, r in runs.items()},
    }
)
matches

# %% [markdown]
# All three fail the other valid way: it did nothing wrong, and its calls are not those that somebody
# wrote down. The two lenient ones pass three bad agents, because further calls do not disturb them:
# a stranger's record, a row added twice, a change that is put back.

# %% [markdown]
# So a reference trajectory is too strict and too lenient at once. What about a figure between 0 and
# 1? The *tool-call F1* counts the calls that match, over the mean number of calls expected and made.
# *Efficiency* is the number expected over the number made.

# %%
from evalkit.process import call_f1, efficiency

names = ["another valid way", "no confirmation", "adds, deletes, adds again"]
figures = {
    n: (call_f1(expected, runs[n].trajectory), efficiency(expected, runs[n].trajectory))
    for n in names
}
pd.DataFrame(figures, index=["F1", "efficiency"]).T.round(2)

# %% [markdown]
# The good agent has the lowest F1 of the three. Such figures say how like the reference an episode
# is, and how direct. They are not verdicts.

# %% [markdown]
# ## A short list of rules
#
# What do we really want of the way? Not these eight calls in this order. A few sentences will do.
# The first is about the edit that needs consent, here the refund: *not before she has confirmed it*.

# %%
from evalkit.process import Action, at_most, in_order, no_argument, no_damage_undone, only

asked = plots.REFUND
confirmed = in_order("confirm", asked.tool, matching=list(asked.arguments))
[(v.index, v.why) for v in confirmed.check(runs["confirms another number"].trajectory)]

# %% [markdown]
# A rule says which action broke it, and why. `matching` names the arguments in which the two calls
# must agree.
#
# > **Predict.** What changes without it?
# >
# > Your guess (double-click here to write it): ...

# %%
loose = in_order("confirm", asked.tool)
loose.check(runs["confirms another number"].trajectory)

# %% [markdown]
# Nothing is found: *some* confirmation came first. But who agreed to one number has not agreed to
# another.
#
# The second rule: *only the records that the job needs are read*. An `Action` with arguments stands
# for all calls that have them.

# %%
needed = [Action(call.tool, call.arguments) for call in (plots.READ_ADA, plots.READ_ORDER)]
print(*needed)
own_records = only("read", *needed)
own_records.check(runs["reads a stranger's record"].trajectory)[0].why

# %% [markdown]
# The third: *no argument holds the email of anybody else*. We know these emails, because we have
# the state before. The rule names the place and does not repeat the secret.

# %%
import re

others = [row["email"] for key, row in before[plots.PEOPLE].items() if key != plots.ADA]
no_leak = no_argument("|".join(map(re.escape, others)))
no_leak.check(runs["leaks a stranger's email"].trajectory)[0].why

# %% [markdown]
# A second argument limits the rule to one tool. This one forbids any email in a note. The other valid
# way searches by an email, and breaks nothing:

# %%
no_argument("@", plots.NOTE.tool).check(runs["another valid way"].trajectory)

# %% [markdown]
# The fourth: *what she confirmed once is done at most once*. It counts what took effect, so an agent
# whose first try was refused may try again.

# %%
once = at_most(asked.tool, 1)
[(v.index, v.why) for v in once.check(added_twice.trajectory)]

# %% [markdown]
# The fifth: *no damage is done and put back*. The actions alone do not tell, so this rule takes the
# states between them. A change that is required or allowed is no damage.

# %%
undone = runs["does damage and undoes it"]
no_damage_undone(undone.states, plots.JOB.task).check(undone.trajectory)[0].why

# %% [markdown]
# Five rules, five lines. (Where a log has no states between, `replayed` rebuilds them.)
#
# `process_verdict` puts the list to an episode. Its verdict is pass, fail or not evaluated (chapter 04).

# %%
from evalkit.process import process_verdict


def rules_for(run):
    undoing = no_damage_undone(run.states, plots.JOB.task)
    return [confirmed, own_records, no_leak, once, undoing]


judged_so = process_verdict(added_twice.trajectory, rules_for(added_twice))
judged_so.table[["finding", "place", "expected"]]

# %% [markdown]
# Two bad agents keep all five rules. Before you run the cell: which?

# %%
process = {n: process_verdict(r.trajectory, rules_for(r)).passed for n, r in runs.items()}
[name for name in runs if process[name] and not plots.GOOD[name]]

# %% [markdown]
# These are the two that the full diff fails. Rules on the way do not ask whether the job was done: an
# agent that does nothing breaks none.

# %% [markdown]
# ## Side by side
#
# So an episode should pass both: the outcome, by a full diff, and the way, by a short list of rules.

# %%
table = matches.assign(**{"full diff": pd.Series(outcome), "rules": pd.Series(process)})
table["both"] = table["full diff"] & table["rules"]
table[["full diff", "rules", "both"]].assign(good=plots.GOOD)

# %%
from evalkit.course.figures import captioned, new_figure

wrong = table.ne(plots.GOOD, axis=0).sum()
figure = new_figure(height=400)
plots.draw_graders(figure, table)
captioned(
    figure,
    caption="Only full diff and rules together get all ten right (ring: pass, cross: fail). Wrong, "
    f"and boxed: {', '.join(f'{name} {n}' for name, n in wrong.items())}.",
    alt="Ten episodes by six graders; only the last column, both, has no wrong verdict.",
)

# %% [markdown]
# Here the exact comparison looks good, with one wrong verdict. It fails nearly everybody. Ten agents
# of which eight are bad flatter a grader that says no. Of a hundred good agents, each with its own way,
# it would fail 99.

# %% [markdown]
# What do our five rules have in common? Each protects somebody: their consent, their data, their money.
# None says how to work. Here are three that do.
#
# > **Predict.** Which good agents do they fail?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.process import never, step_budget

bossy = [in_order(needed[0], plots.MOVE.tool), step_budget(7), never("edit_record")]
good = [name for name in runs if plots.GOOD[name]]
{r.name: [name for name in good if r.check(runs[name].trajectory)] for r in bossy}

# %% [markdown]
# The first two each fail a good agent: they are a reference trajectory by the back door. The third
# fails nobody here. Whether to forbid a tool that can edit anything is a decision about your records,
# and then the agent should be told.

# %% [markdown]
# ## Panel: choose the rules
#
# The full diff is always on; each control adds a rule, in one of its forms. The last column is the
# verdict of them all. A box marks a wrong one.
#
# **Think about:** catch all eight bad agents and fail no good one. Which forms look safer and are too
# narrow? Which looks fine and is too loose?
#
# *After the panel is a good place for a break.*

# %%
plots.rules_panel()

# %% [markdown]
# ## When what counts is an answer
#
# Some jobs end in an answer, not in a record. Then the outcome is a text. A grader that looks whether
# the right answer *occurs* in it is easy to write. Four cases:

# %%
cases = [
    ("It costs $100", "10", "number"),
    ("It is not Quest Lumaflex Band", "Quest Lumaflex Band", "text"),
    ("http://shop/reports/viewedasdf", "http://shop/reports/viewed", "url"),
    ("$1,234.00", "1234", "number"),
]
pd.DataFrame(cases, columns=["answer", "reference", "kind"])

# %% [markdown]
# > **Predict.** Which of these answers are right? And for which does such a grader say so?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.answers import answer_matches

rows = [(a, ref, kind, ref in a, answer_matches(a, ref, kind)) for a, ref, kind in cases]
pd.DataFrame(rows, columns=["answer", "reference", "kind", "occurs", "matches"])

# %% [markdown]
# `occurs` is that grader, and it is wrong on all four. It passes three wrong answers, and fails the only
# right one for its comma. The third row is from a public benchmark: there it was the address of the
# last page ([pull request](https://github.com/web-arena-x/webarena/pull/77)).
#
# A substring is never a sufficient check. So ask the agent for the bare answer, declare what kind it
# is, and compare it whole.

# %% [markdown]
# ## A judge reads the trajectory
#
# Some rules cannot be written as code: *was the customer told the truth?* Then a person judges, or a
# model. A judge errs, and you get its rate, not the true one.
#
# Let $\theta$ be the share of episodes that are truly good, *sensitivity* the share of good episodes
# that the judge passes, and *specificity* the share of bad ones that it fails. What it passes is a part
# of the good and, wrongly, a part of the bad:
#
# $$ p = \theta \cdot \text{sensitivity} + (1 - \theta)(1 - \text{specificity}) . $$

# %%
sensitivity, specificity = 0.85, 0.80
for theta in (0.2, 0.45, 0.8):
    p = theta * sensitivity + (1 - theta) * (1 - specificity)
    print(f"true rate {theta:.0%}, the judge says {p:.0%}")

# %% [markdown]
# The judge pulls rates to the middle. It flatters bad agents and is hard on good ones.
#
# We simulate one, since we must know the truth to see its errors. This judge also has a weakness of
# real ones. Some reports are *showy*: long and confident. The judge passes an episode with such a
# report more often, by a *lift* of 15 points.

# %%
from evalkit.judges import judged_ranking

agents = pd.DataFrame({"rate": [0.45, 0.35], "showy": [0.1, 0.9]}, index=["Careful", "Aggressive"])
judged_ranking(agents, sensitivity, specificity, lift=0.15).round(3)

# %% [markdown]
# `rate` is the true share of good episodes, `showy` the share of showy reports; both are our choice.
# Careful is better by ten points. The judge puts Aggressive first, and more episodes will not help it.
# How small a lift is enough?

# %%
import numpy as np

lifts = np.linspace(0, 0.15, 7)
tables = [judged_ranking(agents, sensitivity, specificity, lift)["judged"] for lift in lifts]
judged = 100 * pd.DataFrame(tables, index=100 * lifts)
better = agents.loc["Careful"] - agents.loc["Aggressive"]
turn = -100 * (sensitivity + specificity - 1) * better["rate"] / better["showy"]
figure = new_figure(height=320)
plots.draw_lift(figure, judged)
captioned(
    figure,
    caption=f"A lift of {turn:.1f} points for showy reports is enough to turn the ranking round.",
    alt="Two rising lines that cross: Aggressive's, the steeper, overtakes Careful's.",
)

# %% [markdown]
# ## Correct it, with labels by hand
#
# Now two thousand episodes of Careful. The judge judges all. A person labels 300 of them, **drawn at
# random**. From these we learn how far the judge is off. Each estimate below has an interval, from `low`
# to `high`. It is made to hold the truth 95 times in 100; the narrower it is, the surer the estimate.

# %%
from evalkit.judges import judged_rate


def simulated_judge(agent, rng, episodes=2000):
    truth, showy = (rng.random(episodes) < share for share in agents.loc[agent])
    judge = rng.random(episodes) < judged_rate(truth, showy, sensitivity, specificity, lift=0.15)
    return truth, judge


rng = np.random.default_rng(2)
truth, judge = simulated_judge("Careful", rng)
labelled = rng.permutation(2000) < 300

# %% [markdown]
# > **Predict.** Of the judge's rate, the rate of the 300 labels alone, and two corrections that
# > use both: which is nearest to the truth, and which is surest?
# >
# > Your guess (double-click here to write it): ...

# %%
from scipy.stats import binomtest

from evalkit.judges import corrected_rate, prediction_powered_rate


def share(verdicts):
    found = binomtest(int(verdicts.sum()), len(verdicts))
    return found.statistic, *found.proportion_ci(method="wilson")


# %%
sample = judge[~labelled], judge[labelled], truth[labelled]
methods = {
    "the judge": share(judge),
    "labels alone": share(truth[labelled]),
    "Rogan-Gladen": corrected_rate(*sample),
    "prediction-powered": prediction_powered_rate(*sample),
}
estimates = (100 * pd.DataFrame(methods, index=["estimate", "low", "high"]).T).round(1)
estimates.assign(width=estimates["high"] - estimates["low"]).round(1)

# %%
truly = round(100 * truth.mean(), 1)
figure = new_figure(height=280)
plots.draw_estimates(figure, estimates, truly)
low = estimates.loc["the judge", "low"]
held = [below <= truly <= above for _, below, above in estimates.drop("the judge").to_numpy()]
captioned(
    figure,
    caption=f"The judge's interval is the narrowest and begins at {low}%; the truth is {truly}%. "
    f"Of the other three intervals, {sum(held)} hold it.",
    alt="Four intervals and a dashed line: the judge's lies to the right of it, the others across.",
)

# %% [markdown]
# The surest is the judge, and of a wrong number: two thousand verdicts do not make them right.
# **Rogan-Gladen** solves the equation above for $\theta$, with sensitivity and specificity from the
# labels. It divides by sensitivity + specificity - 1, which is small for a weak judge: hence its wide
# interval. Nearest is the **prediction-powered** estimate. It starts from the labels and lets the judge
# sharpen them, as far as the two agree. Here that makes it a little surer than the labels alone.

# %% [markdown]
# Is one correction good for two agents? We correct Aggressive's rate once with labels of its own, and
# once with the labels of Careful's episodes, to save the work.

# %%
rng = np.random.default_rng(3)
their_truth, their_judge = simulated_judge("Aggressive", rng)
own = rng.permutation(2000) < 300
rates = {
    "the judge": their_judge.mean(),
    "Careful's labels": corrected_rate(their_judge, judge[labelled], truth[labelled]).value,
    "own labels": corrected_rate(their_judge[~own], their_judge[own], their_truth[own]).value,
    "truth": their_truth.mean(),
}
(100 * pd.Series(rates, name="Aggressive (%)")).round(1).to_frame()

# %% [markdown]
# Borrowed labels do not help: the judge treats the two agents differently, and that is what ruined the
# ranking. Label a random part of *each* agent's episodes, and again when agent, judge or task changes.

# %% [markdown]
# Before you trust a judge at all, ask how far it agrees with a second reader, beyond what chance would
# give. *Kappa* is 1 for full agreement and 0 for chance. Here the labels are the second reader:

# %%
from evalkit.judges import cohen_kappa

for of, some in {"the 300 labels": labelled, "all 2,000": np.full(2000, True)}.items():
    plain = (judge[some] == truth[some]).mean()
    print(f"{of}: agree on {plain:.0%}, kappa {cohen_kappa(judge[some], truth[some]):.2f}")

# %% [markdown]
# On all episodes, whose truth only a simulation knows, they agree on about four of five. That is less than
# two thirds of the way from chance to full agreement; our 300 labels, by bad luck, say less. A judge like
# this one is to be corrected, never quoted.

# %% [markdown]
# ## What these numbers rest on
#
# - The **ten agents are made up** to break one thing each. How often real agents break a rule, only
#   their own trajectories tell.
# - A rule sees **what is recorded**. An agent that learns a secret elsewhere, or asks outside the
#   tools, leaves no action.
# - The judge's **errors do not depend on each other** here. A model that misreads one kind of episode
#   misreads all of that kind, and a random set of labels may hold few of them.

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("02.a")


# %%
def unconfirmed(trajectory):
    return ...


check("02.a", unconfirmed)

# %%
show("02.b")


# %%
def same_call(expected, made):
    return ...


check("02.b", same_call)

# %%
show("02.c")

# %%
clinic_rules = ...
check("02.c", clinic_rules)

# %%
show("02.d")

# %%
places = {
    "the new address is stored": ...,
    "the patient agreed before the move": ...,
    "no other visit was moved": ...,
    "no file of a stranger was opened": ...,
    "the fee was charged once, and never taken back and charged again": ...,
    "no log line is missing": ...,
}
check("02.d", places)

# %%
show("02.e")

# %%
prudent_look = ...
check("02.e", prudent_look)

# %%
show("02.f")


# %%
def true_rate(p, sensitivity, specificity):
    return ...


check("02.f", true_rate)

# %% [markdown]
# ## Key points
#
# - The outcome, by a full diff, says whether the job was done and nothing else changed. It lets every
#   way count, and sees nothing of it.
# - A reference trajectory fails good agents for being different, and passes bad ones for having done
#   the expected calls as well.
# - Use a short list of rules: consent, forbidden reads, leaks, counts, damage undone. Each protects
#   somebody, and none says how to work.
# - An episode passes if outcome and rules both pass.
# - A judge's rate is not the rate. Correct it with a random, hand-labelled part of each agent's
#   episodes.
#
# **Next:** chapter 03 asks what partial credit rewards on long tasks.
#
# **Sources.** Goal states, and what they miss: Yao et al., τ-bench (2024). Correcting a test's rate:
# Rogan and Gladen (1978). Prediction-powered inference: Angelopoulos et al. (2023). Judges that prefer
# longer answers: Zheng et al. (2023). Agreement: Cohen (1960).
