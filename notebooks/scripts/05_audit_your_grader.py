# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 05 Audit your grader: what does it let through?
#
# **A grader is a test of agents. Who tests the test?**
#
# You will be able to
#
# - damage an end state on purpose, and measure how much of the damage a grader lets through;
# - say what an agent earns that does nothing, and what that does to a leaderboard;
# - list what of the grader an agent can see, and tell when an environment has drifted.
#
# *Reading: 60 minutes. Exercises: 48 minutes. Needs: chapters 01 and 04.*

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
# ## A grader with a green test suite
#
# Ada's job again, from chapter 01. `end_state` plays calls on fresh records, and gives the
# state that they leave.

# %%
from contextlib import suppress

from evalkit import snapshot
from evalkit.simulate import SCENARIO
from evalkit.simulate.world import ToolError, World

world = World(SCENARIO, seed=1)
print(SCENARIO.instruction)


# %%
def end_state(*calls):
    world.reset()
    for step in calls:
        with suppress(ToolError):  # what a tool refuses, it does not do
            world.call(step.tool, **step.arguments)
    return snapshot(world.connection)


right = [edit.right for edit in SCENARIO.edits]
before, done = end_state(), end_state(*right)

# %% [markdown]
# Somebody has written a grader for it. It asks four plain questions, one for each thing that was to
# be done:

# %%
(home, address), (order, status) = SCENARIO.task.required.items()
(_, amount), (whose, text) = (step.arguments for step in right[2:])
people, orders, refunds, notes = SCENARIO.tables


def at(state, place):
    table, key, column = place.split("/")
    return state[table][key][column]


def grader(before, after):
    return (
        at(after, home) == address
        and at(after, order) == status
        and any(row[amount] == right[2].arguments[amount] for row in after[refunds].values())
        and any(row[text] == right[3].arguments[text] for row in after[notes].values())
    )


# %% [markdown]
# And tests for the grader: the job done well, nothing done, and each of the four edits done wrong.

# %%
import pandas as pd

cases = {"all done right": done, "nothing done": before}
for i, edit in enumerate(SCENARIO.edits):
    cases[f"wrong: {edit.label}"] = end_state(*right[:i], edit.wrong, *right[i + 1 :])
tests = pd.DataFrame({"grader passes it": [grader(before, after) for after in cases.values()]})
tests.index = list(cases)
tests

# %% [markdown]
# One pass, and it is the right one. All six tests are green. This grader goes to work.
#
# The next agent does the job. It also tidies up: it deletes a note, and then the record of the person
# to whom the note belonged.

# %%
from evalkit import state_diff
from evalkit.simulate.world import Call

tidy = [
    Call("delete_record", table=notes, id=1),
    Call("delete_record", table=people, id=before[notes][1][whose]),
]
tidied = end_state(*right, *tidy)
print(state_diff(done, tidied))

# %% [markdown]
# > **Predict.** What does the grader say of it?
# >
# > Your guess (double-click here to write it): ...

# %%
grader(before, tidied)


# %% [markdown]
# A person's record is gone, and the agent passes. The tests could not warn us: whoever wrote the grader
# wrote them as well, and looked at the same four places both times.
#
# Tests that we think of show what we thought of. We need damage that nobody chose.

# %% [markdown]
# ## Damage on purpose
#
# Programmers know this trick as *mutation testing*: break the program in many small ways, and count
# the breaks that its tests do not notice. Here the end state is what we break. A broken one is a
# *mutant*.
#
# Start with one kind: from the right end state, delete one row.


# %%
def without(state, table, key):
    rows = {k: row for k, row in state[table].items() if k != key}
    return {**state, table: rows}


tables = [table for table in done if table != "sqlite_schema"]
mutants = {(t, k): without(done, t, k) for t in tables for k in done[t]}
len(mutants)

# %% [markdown]
# > **Predict.** How many of these does the grader pass?
# >
# > Your guess (double-click here to write it): ...

# %%
passes, crashes = [], []
for place, after in mutants.items():
    try:
        passes += [place] if grader(before, after) else []
    except KeyError:
        crashes.append(place)
print(f"passes {len(passes)}, crashes on {len(crashes)}: {crashes}")

# %% [markdown]
# Nearly all. Where a record that it looks at is gone, the grader crashes. That is not a fail: often
# such an episode is dropped or run again, and the damage with it.

# %% [markdown]
# ## The escape rate
#
# Not every mutant is harm. The log may change as it likes, so a log line that is gone has
# hurt nobody. What is harm, the *task* says, and chapter 04's `grade` decides it.
#
# A harmful mutant that passes has *escaped*. With $x$ escapes among the $n$ harmful mutants on which
# the grader gave an answer, the *escape rate* is
#
# $$ \hat e = \frac{x}{n} . $$
#
# The hat says that it is an estimate, from the mutants that we happened to make.

# %%
from evalkit import grade

task = SCENARIO.task
harmful = [place for place, after in mutants.items() if not grade(before, after, task)]
n = len([place for place in harmful if place not in crashes])
x = len([place for place in harmful if place in passes])
print(f"{len(harmful)} harmful, {n} answered, {x} escape: {x / n:.0%}")

# %% [markdown]
# ## The audit
#
# `audit_grader` does this with many kinds of damage. It needs the grader, the state before, one end
# state that is right, and the task. These are the kinds:

# %%
from evalkit.course.plots import chapter_05 as plots

pd.DataFrame({"what is done to the right end state": plots.KINDS})

# %%
from evalkit.audit import audit_grader

first = audit_grader(grader, before, done, task)
plots.escapes(first)

# %% [markdown]
# One row a kind: mutants that pass, of how many that were answered, the escape rate, and the ends of
# its 95% interval (Wilson's). Small kinds have wide ones: there are only so many ways to undo four
# edits. Of a large kind at most twenty are made, those nearest to the task first.
#
# *Unanswered* are the crashes, which are in no rate: see the rows in another table.
#
# The interval is about mutants like these. It does not say how often an agent does such damage.
# Numbers say how much escapes. The *survivors*, the mutants that escaped, say what:

# %%
few = first.survivors.groupby("kind").head(1).set_index("kind")["difference"]
pd.DataFrame({"a survivor of each kind": few.str.slice(0, 70)})


# %% [markdown]
# Read the survivors first when you audit a grader of your own. Each of them is an end state that you
# would have to explain to somebody, and your grader calls it a success. (One adds its row for a
# record that does not exist. The grader looked at the number.)

# %% [markdown]
# ## The graders of chapter 01
#
# Three of the four judge a state. Partial credit needs a mark from which it passes; we take three
# quarters.
#
# The own report cannot even be asked. It reads what the agent *says*, and a state says nothing. On an
# agent that always claims success it amounts to this:


# %%
def own_report(before, after):
    return True


graders = {
    "own report": own_report,
    "partial credit": lambda before, after: grade(before, after, task).credit >= 0.75,
    "targets only": lambda before, after: grade(before, after, task).credit == 1,
    "full diff": lambda before, after: grade(before, after, task),
}

# %% [markdown]
# > **Predict.** Which share of the harmful mutants does each of them pass?
# >
# > Your guess (double-click here to write it): ...

# %%
audits = {name: audit_grader(g, before, done, task, fields=400) for name, g in graders.items()}
pd.DataFrame({name: plots.escapes(audit).loc["all mutants"] for name, audit in audits.items()})

# %% [markdown]
# Partial credit from three quarters catches no more than the agent's own word. Each mutant has one
# thing wrong. In a target that costs a quarter at most, and anywhere else it costs nothing.
#
# Where do the others differ? The escape rate by kind, in percent:

# %%
rates = {name: plots.escapes(audit)["escape rate (%)"] for name, audit in audits.items()}
pd.DataFrame(rates)

# %%
from evalkit.course.figures import captioned, new_figure

shown = {name: plots.escapes(audits[name]) for name in list(graders)[1:]}
figure = new_figure(height=400)
plots.draw_escapes(figure, shown)
captioned(
    figure,
    caption=f"Partial credit lets all harm through, targets only "
    f"{rates['targets only']['all mutants']}%, the full diff none of "
    f"{shown['full diff'].loc['all mutants', 'of']} mutants.",
    alt="Bars of escape rates by kind of damage, one graph for each of three graders.",
)

# %% [markdown]
# Targets only is a good grader of the targets: no wrong value and no reverted edit escapes. It is
# blind to whatever lies beside them.
#
# The full diff lets nothing through. But it judges by the task, and so does the audit. The zero says
# that the code does what the task says. Whether the *task* is right, no audit can know. And zero
# escapes is not a rate of zero: the interval says what is left.

# %% [markdown]
# ## The other mistake
#
# A grader that fails everybody has an escape rate of zero. So the audit also makes $m$ variants that
# do no harm, and counts the $y$ that are failed. Their share is the *false-alarm rate*:
#
# $$ \hat f = \frac{y}{m} . $$
#
# Many graders compare the whole end state with the one that is right. Audit that. (Wrong answers on
# what is harmful are escapes, on what is harmless false alarms.)

# %%
strict = audit_grader(lambda before, after: after == done, before, done, task)
print(strict.table.loc["all mutants"].round(2), "\n")
wrong = pd.concat([strict.false_alarms, strict.survivors]).groupby(["answer", "kind"])
wrong["difference"].first().str.slice(0, 64).to_frame("the first of each kind")

# %% [markdown]
# It fails good agents for the number and the time that the database gives to a new row. Such false
# alarms are why people loosen graders, and often by more than they need to.
#
# The one kind that escapes is Python's doing: to `==`, a whole number and its float (1 and 1.0) are equal.

# %% [markdown]
# What counts as another way to write the same thing, the task *declares*. A bill is sent; its four
# fields have a form each:

# %%
from evalkit import Task

draft = {"bills": {"B1": {"total": "130.00", "to": "Ada Okafor", "sent": None, "tags": ["a", "b"]}}}
sent = {"bills": {"B1": {**draft["bills"]["B1"], "sent": "2026-03-02T09:00:00Z"}}}
names = {"total": "number", "to": "caseless", "sent": "instant", "tags": "multiset"}
bill = Task(
    required={"bills/B1/sent": "2026-03-02T09:00:00Z"},
    forms={f"bills/*/{field}": form for field, form in names.items()},
)

# %%
as_text = audit_grader(lambda before, after: after == sent, draft, sent, bill)
as_forms = audit_grader(lambda before, after: grade(before, after, bill), draft, sent, bill)
both = {"as text": as_text.table, "with forms": as_forms.table}
print(pd.concat({name: table.loc["all mutants"] for name, table in both.items()}).round(2), "\n")
as_text.false_alarms.set_index("kind")[["difference"]]


# %% [markdown]
# Four ways to write the same bill, and a plain comparison fails every one. (The fifth variant has its
# keys in another order, which Python does not mind.) With the forms none fails.

# %% [markdown]
# ## Your own grader, in five lines
#
# Put yours in place of this one, and your own states and task in place of ours. (Without a task every
# difference from the right end state counts as harm.)


# %%
def my_grader(before, after):
    return len(after[refunds]) == len(before[refunds]) + 1


report = audit_grader(my_grader, before, done, task)
print("\n".join(report.notes))
report.table.loc["all mutants"].round(2)

# %% [markdown]
# The notes come before the numbers. If the grader does not even pass the right end state, then no
# catch counts. The last three are about agents, and they are next.

# %% [markdown]
# *Half-way: a good place for a break.*
#
# ## Three agents that did not read the task
#
# Besides mutants, the audit shows the grader the work of three agents. One does nothing. One empties
# every table. One does what was asked, and every other thing that it could think of: new rows
# for everybody, each record touched.
#
# > **Predict.** Which of the four graders passes which of the three agents?
# >
# > Your guess (double-click here to write it): ...

# %%
agents = {
    name: audit.probes.query("probe == 'agent'").set_index("kind")["answer"]
    for name, audit in audits.items()
}
pd.DataFrame(agents).rename_axis("an agent that ...")

# %% [markdown]
# The own report passes all of them, for an agent that does nothing can still say that it did. The last
# agent gets past every grader that looks at targets only. It never had to know what was wanted. It had
# to leave nothing out.

# %% [markdown]
# ## What doing nothing earns
#
# On our task an agent that does nothing fails. On whole benchmarks it may not. In some tasks the right
# thing is to *refuse*, and then the end state is the start.
#
# τ-bench gives an agent a shop or an airline to look after, and compares its database with a goal
# (Yao et al., 2024).
#
# > **Predict.** What share of its tasks does an agent pass that never does anything?
# >
# > Your guess (double-click here to write it): ...

# %%
published = plots.do_nothing()
tasks = published["tasks"].unstack("doing nothing")
tasks["doing nothing earns (%)"] = (100 * tasks["passes"] / tasks.sum(axis=1)).round().astype(int)
tasks

# %% [markdown]
# On the airline more than a third, with no model, no tool and no word to the customer. Now put this
# beside a real agent. gpt-4o was run four times on each airline task, and the benchmark's own
# files say which trials passed:

# %%
airline = published.loc["airline"][["gpt-4o trials", "gpt-4o passed"]]
airline.loc["all tasks"] = airline.sum()
airline["gpt-4o (%)"] = (100 * airline["gpt-4o passed"] / airline["gpt-4o trials"]).round()
airline.astype(int)

# %% [markdown]
# The published number is the last row. It is only a few points above doing nothing, and still the two
# are not alike. Split by what doing nothing earns, gpt-4o is two agents: a fair one where it should
# hold still, and a poor one where something has to be done.

# %%
floor = tasks.loc["airline", "doing nothing earns (%)"]
split = pd.DataFrame({"does nothing": [100, 0, floor], "gpt-4o": airline["gpt-4o (%)"].astype(int)})
split.index = ["tasks that doing\nnothing passes", "the other tasks", "all tasks"]
figure = new_figure()
plots.draw_do_nothing(figure, split)
held, acted, both = split["gpt-4o"]
captioned(
    figure,
    caption=f"gpt-4o's {both}% on the airline is {held}% where doing nothing is right and {acted}% "
    "where something has to be done.",
    alt="Three pairs of bars, for an agent that does nothing and for gpt-4o.",
)

# %% [markdown]
# - Do not subtract the floor. gpt-4o fails some of the tasks that doing nothing passes: there it *did*
#   something, and it was wrong.
# - Do not leave these tasks out either. To leave things alone is a skill. (A requirement that just
#   happens to hold from the start tests nobody: chapters 03 and 04 leave that out.)
# - Report both shares. And ask a refusal to be said, so that an agent that refuses is not the same as
#   one that never answers. Exercises 05.d and 05.e take this up.

# %% [markdown]
# ## How much does no check look at?
#
# One more question for a grader: take the right end state and change one field; then, instead, remove
# it. If the grader passes both, no check looks there. The audit tries all fields, one by one. (The
# table `sqlite_schema` holds the database's own plan: its tables, and its triggers if it had any.)

# %%
looked_at = {name: plots.unseen(audits[name]) for name in ("targets only", "full diff")}
pd.concat(looked_at, axis=1)

# %%
shares = {name: 100 * audits[name].unseen_share() for name in looked_at}
figure = new_figure(height=300)
plots.draw_unseen(figure, looked_at)
captioned(
    figure,
    caption=f"Targets only leaves {shares['targets only']:.0f}% of the fields unseen, the full diff "
    f"{shares['full diff']:.0f}%: the log, and the numbers and times of new rows.",
    alt="A bar for each table. In the left graph nearly all of every bar is hatched: unseen.",
)

# %% [markdown]
# What the full diff does not look at is what the task allows. The verdict of each episode, and the audit's
# notes, say how much of the state *before* that is. The graph counts what is new as well. A pattern that
# allows more opens more. How much more?

# %% [markdown]
# ## Panel: widen what is allowed
#
# Harm is what Ada's task says, whatever you choose. *Allowed* widens what the *grader* allows:
#
# 0. what the task allows;
# 1. any time stamp as well;
# 2. any field that the task does not set;
# 3. new rows in any table;
# 4. deleted rows as well.
#
# **Think about:** which kinds does each step open? And what does *Mutants of a kind, at most* change, and
# what can it never change?

# %%
plots.escape_panel()

# %% [markdown]
# ## A grader that the agent can see
#
# So far the grader sat where the agent could not reach it. Often it does not. Here is a desk: an
# agent's folder, with a list of refunds to add up. The right total lies in a file beside it, for the
# grader.

# %%
import tempfile
from pathlib import Path

LINES = "order,cents\nW1001,4250\nW1002,500\nW1005,1500\n"
TOTAL = "6250"


def new_desk(**files):
    desk = Path(tempfile.mkdtemp()).resolve() / "desk"
    desk.mkdir()
    for name, text in {"refunds.csv": LINES, **files}.items():
        _ = (desk / name).write_text(text)
    return desk


# %% [markdown]
# This agent does not add anything up. It looks whether somebody has left the answer lying about.

# %%
SNOOP = """
from pathlib import Path
found = sorted(Path.cwd().rglob("*gold*"))
Path("answer.txt").write_text(found[0].read_text() if found else "0")
print("found", [path.name for path in found])
"""

desk = new_desk(**{"gold.txt": TOTAL})
plots.run_or_say([sys.executable, "-c", SNOOP], desk)


# %%
def total_is_right(desk):
    answer = desk / "answer.txt"
    return answer.exists() and answer.read_text() == TOTAL


total_is_right(desk)

# %% [markdown]
# Full marks, for reading a file. The agent ran as a *process of its own*, in its own folder, with an
# empty environment. That did not help: the answer was in the folder.
#
# So before an agent runs, list what it could reach:

# %%
from evalkit.isolation import exposures

desk = new_desk(**{"gold.txt": TOTAL})
for line in exposures(desk, [desk / "gold.txt"]):
    print(line.replace(str(desk.parent), "...").replace("\\", "/"))

# %% [markdown]
# (The last line is the file itself, which lies in the desk.)
#
# Now the answer moves out of the desk, to a folder of the grader's own. The same agent again:

# %%
desk, keep = new_desk(), Path(tempfile.mkdtemp()).resolve()
_ = (keep / "gold.txt").write_text(TOTAL)
print(plots.run_or_say([sys.executable, "-c", SNOOP], desk))
print("passes:", total_is_right(desk))
print("exposed:", [line.split(":")[0] for line in exposures(desk, [keep / "gold.txt"])])

# %% [markdown]
# It found nothing, and fails. But the answer is not safe. The copy is gone; still, the agent runs as
# the same user, and what you can read, it can read. Against an agent that looks beyond its folder, use
# another user, a container or another machine, and ask `exposures` again from there.

# %% [markdown]
# ## A grader that the agent can edit
#
# Agents that write code are graded by tests, and the tests have to lie where the code is. Then the
# agent can edit them:

# %%
TEST = 'assert open("answer.txt").read() == "6250"'
kept = new_desk(**{"test_total.py": TEST})
skip_all = "collect_ignore_glob = ['*']"
desk = new_desk(**{"test_total.py": "assert True", "conftest.py": skip_all})  # the agent's doing

# %% [markdown]
# The cure: keep the files that decide, and put them back before grading. Name those too that should
# not be there at all, such as a `conftest.py` that tells the test runner to skip everything.

# %%
from evalkit.isolation import restore

tampered = restore(kept, desk, ["test_total.py", "conftest.py"])
for change in tampered:
    print(change.kind, "/".join(change.path))
sorted(path.name for path in desk.iterdir())

# %% [markdown]
# `restore` also says what it found. Keep that with the result: an agent that edits its own tests has
# told you something about itself. (Run the cell again and it finds nothing: all is put back.)

# %% [markdown]
# ## Environments drift
#
# A result belongs to the environment in which it was had. If the data, the schema or a version
# changes, two results are not comparable, even with the same agent and the same grader.
#
# A *fingerprint* is a short digest of all three. Keep it with each result.

# %%
from evalkit.isolation import drift, fingerprint

then = fingerprint(before, {"store": "1.2", "simulated user": "2025-11"})
list(then)

# %% [markdown]
# > **Predict.** Which parts of the fingerprint change in each of these cases?
# >
# > Your guess (double-click here to write it): ...

# %%
versions, other, newer = then["versions"], World(SCENARIO, seed=2), World(SCENARIO, seed=1)
_ = newer.connection.execute(f"ALTER TABLE {orders} ADD COLUMN gift TEXT")
later = {
    "the same records, filled again": fingerprint(end_state(), versions),
    "filled from another seed": fingerprint(snapshot(other.connection), versions),
    "a column more": fingerprint(snapshot(newer.connection), versions),
    "a new version of the user": fingerprint(before, {**versions, "simulated user": "2026-02"}),
}

# %%
found = {name: ["/".join(c.path) for c in drift(then, now)] for name, now in later.items()}
pd.DataFrame({"what has drifted": {n: ", ".join(parts) or "nothing" for n, parts in found.items()}})

# %% [markdown]
# A simulated user is part of the environment: chapter 09 shows that its wording alone moves an agent's
# score. Where anything has drifted, do not compare. Run both agents again on one environment.

# %%
for store in (world, other, newer):
    store.close()

# %% [markdown]
# ## What an audit cannot do
#
# - It takes the **task** for the truth. A goal that is wrong makes a wrong audit: ask the person whose
#   records they are.
# - Its damage is **simple**, one thing at a time. Real agents do odder things, and more of them.
# - It grades **end states**. What happens on the way, and is undone, needs the rules of chapter 02.
# - The rates are **shares of mutants**, not of episodes. They find holes; they do not forecast.

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("05.a")


# %%
def closed(before, after):
    return ...


check("05.a", closed)

# %%
show("05.b")


# %%
def mutants_needed(limit):
    return ...


check("05.b", mutants_needed)

# %%
show("05.c")


# %%
def patch_verdict(needed, log, exit_code):
    return ...


check("05.c", patch_verdict)

# %%
show("05.d")


# %%
def acting_range(overall, floor):
    return ...


check("05.d", acting_range)

# %%
show("05.e")

# %%
stalling = ...
check("05.e", stalling)

# %% [markdown]
# ## Key points
#
# - A grader's own tests share its blind spots. Damage the end state on purpose, and count what passes.
# - Report two rates, escapes and false alarms, each with its interval, and read the survivors.
# - Say what an agent earns that does nothing, and split the score by it.
# - Keep answers and tests out of the agent's reach, and put back what it could have edited.
# - Keep the environment's fingerprint with each result. Where it has changed, do not compare.
#
# **Next:** chapter 06 leaves graders, and asks why long tasks fail.
#
# **Sources.** Mutation testing: DeMillo, Lipton and Sayward (1978). The interval: Wilson (1927).
# τ-bench and its trajectories: Yao et al. (2024). Empty answers that count as success: Zhu et al.,
# *Establishing Best Practices for Building Rigorous Agentic Benchmarks* (2025).
