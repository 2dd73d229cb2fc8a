# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 13 Your own agent: what would its report card say?
#
# **You have an agent. What do you run, and what may you say afterwards?**
#
# You will be able to
#
# - put an agent of your own, scripted or driven by a model, on a suite behind a service that fails;
# - get from its log to a report card, and fill in each line of the design checklist;
# - point the same tools at your own database and your own logs.
#
# *Reading: 55 minutes. Exercises: 50 minutes; capstone: 90. Needs: chapters 04, 05, 07 and 09.*

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
# ## An agent is a function
#
# An agent, of whatever kind, is a *policy* here: a function of three things. `call` uses a tool by
# its name, and raises `ToolError` where the tool refuses. `instruction` is what the user wants. `rng`
# is where its luck comes from. It returns whether it claims success. Here is one:


# %%
def does_nothing(call, instruction, rng):
    return True


# %% [markdown]
# ## Ten tickets
#
# The suite is small: ten tickets on the record store of chapter 01, all from one start state.

# %%
import pandas as pd

from evalkit.simulate.tickets import TICKETS

pd.set_option("display.max_colwidth", 200)
told = {n: t.instruction.removesuffix(" Change nothing else.") for n, t in TICKETS.items()}
pd.Series(told, name="told, and to change nothing else").to_frame()

# %% [markdown]
# A policy finds its way by calling tools. A refusal is an answer as well: it is told what is wrong.

# %%
from evalkit.simulate.world import ToolError, World

with World(TICKETS["cancel"]) as world:
    print(world.call("search", text="Okafor"))
    print(world.call("read", table="orders", id="W1004"))
    try:
        world.call("cancel_order", order_id="W1003")
    except ToolError as refusal:
        print(refusal)

# %% [markdown]
# ## Write an agent
#
# Ours is a script: it costs nothing to run, and it makes mistakes that models make as well. First it
# has to read. Four patterns find the wishes in an instruction, in their order.

# %%
import re

WISHES = {
    "move": r"change the address of (?P<name>.+?) to '(?P<text>.+?)'",
    "cancel": r"cancel order (?P<order>\w+)",
    "refund": r"refund (?P<amount>all|the rest|[\d.]+) of order (?P<order>\w+)",
    "note": r"add the note '(?P<text>.+?)' to the record of (?P<name>[^.]+)",
}


def wishes(instruction):
    found = []
    for kind, pattern in WISHES.items():
        for match in re.finditer(pattern, instruction, re.IGNORECASE):
            found.append((match.start(), kind, match.groupdict()))
    return [(kind, wish) for _, kind, wish in sorted(found, key=lambda one: one[0])]


wishes(TICKETS["all at once"].instruction)[:2]


# %% [markdown]
# It takes each wish, makes the call, and believes that all is well. A model does not write the same
# twice. A script does, so we give it slips of the keyboard: in 15% of the texts that it writes, one
# letter is lost.


# %%
def typed(text, rng):
    if rng.random() < 0.85:
        return text
    slip = int(rng.integers(len(text)))
    return text[:slip] + text[slip + 1 :]


def hasty(call, instruction, rng):
    for kind, wish in wishes(instruction):
        if kind in ("move", "note"):
            who = call("search", text=wish["name"].split()[-1])[0]["id"]
        if kind == "move":
            call("update_address", customer_id=who, address=typed(wish["text"], rng))
        elif kind == "note":
            call("add_note", customer_id=who, text=typed(wish["text"], rng))
        elif kind == "cancel":
            call("cancel_order", order_id=wish["order"])
        else:
            total = call("read", table="orders", id=wish["order"])["total_cents"]
            part = wish["amount"].replace(".", "")
            cents = int(part) if part.isdigit() else total
            call("issue_refund", order_id=wish["order"], amount_cents=cents)
    return True


# %% [markdown]
# > **Predict.** Which of the ten tickets will Hasty never get right, however often it tries?
# >
# > Your guess (double-click here to write it): ...

# %%
import numpy as np

from evalkit.simulate.episodes import play


def first_try(policy):
    rows = {}
    for name, ticket in TICKETS.items():
        with World(ticket) as world:
            episode = play(policy, world, np.random.default_rng(0))
        rows[name] = (episode.claim, episode.verdict.status, len(episode.trajectory))
    return pd.DataFrame(rows, index=["claims success", "verdict", "calls"]).T


first_try(hasty)

# %% [markdown]
# It claims success on tickets that it failed. One is worth a look: two customers are called Okafor, and
# Hasty takes the first.

# %%
with World(TICKETS["move, two of that name"]) as world:
    episode = play(hasty, world, np.random.default_rng(0))
episode.verdict.table[["finding", "place", "found"]]

# %% [markdown]
# A required change is missing and a stranger has moved. A check of the target alone would have seen
# the first, and not the second.

# %% [markdown]
# ## Eight trials of each, on a service that fails
#
# Now the real run. Each ticket stands behind a web service, and in 5% of the episodes that service
# times out or answers "unavailable" (chapter 09). Failures of the environment are tagged and retried,
# up to three times. Everything goes to a log, with the conditions of the run on each line.

# %%
import tempfile
from pathlib import Path

from evalkit.runner import Setup, run_suite
from evalkit.simulate.faults import Faults
from evalkit.simulate.tickets import desk, harness

folder = tempfile.TemporaryDirectory()
FLAKY = Faults(timeout=0.02, server_error=0.03)
CONDITIONS = dict(retries=3, max_steps=20, user_model="none", environment_version="tickets 1")


def run(name, policy, faults=FLAKY, trials=8):
    setup = Setup(name, list(TICKETS), trials, **CONDITIONS)
    with desk(faults) as services:
        how = harness(services, policy, max_steps=setup.max_steps)
        return run_suite(
            setup, how, Path(folder.name) / f"{re.sub(r'[^a-z0-9]+', '-', name)}.jsonl"
        )


# %% [markdown]
# > **Predict.** What share of Hasty's trials will pass? On how many of the ten tickets will it pass all
# > eight?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.runlog import trial_rows

attempts = run("hasty", hasty)
trials = trial_rows(attempts, list(TICKETS), 8)
passed = trials["success"].astype(float).groupby(trials["task"]).agg(["sum", "count"])
passed.loc[list(TICKETS)].astype(int).set_axis(["passed", "of"], axis=1)

# %%
from evalkit.course.figures import captioned, new_figure
from evalkit.course.plots import chapter_13 as plots

figure = new_figure(height=340)
plots.draw_trials(figure, trials)
always, sometimes = (passed["sum"] == 8).sum(), passed["sum"].between(1, 7).sum()
captioned(
    figure,
    caption=f"Hasty passes {always} tickets every time (shaded), {sometimes} now and then, and "
    f"{10 - always - sometimes} never. {attempts['infra'].sum()} attempts met a flake and were retried.",
    alt=f"Ten rows of eight marks: some rows all dots, some all crosses, {sometimes} mixed.",
)

# %% [markdown]
# Two kinds of failure are mixed in one number. On some tickets Hasty is wrong every time: that is a
# gap. On others it slips now and then. One trial may show a failure; which of the two it is, only
# several show.
#
# ## Before you believe it: the grader
#
# Chapter 05 tested a grader by damaging the right end state. We do this on each ticket. The right end
# state comes from `reference`, a policy that knows the answers.

# %%
from evalkit import grade, snapshot
from evalkit.audit import audit_grader
from evalkit.simulate.tickets import reference


def audit(ticket, task):
    with World(ticket) as world:
        before = snapshot(world.connection)
        reference(world.call, ticket.instruction, None)
        after = snapshot(world.connection)
    states = dict(per_kind=2, fields=5, before=before, reference=after)
    return audit_grader(lambda b, a: grade(b, a, ticket.task), task=task, **states)


audits = [audit(ticket, ticket.task) for ticket in TICKETS.values()]
found = sum(one.table.loc[[("all mutants", "harmful")]][["wrong", "of"]].sum() for one in audits)
print(f"let through: {found['wrong']:.0f} of {found['of']:.0f} harmful end states")

# %% [markdown]
# Nothing gets through, and we should not be too pleased: here the task says what harm is, and the task
# is what grades. It tells us that the grader is `grade` and no hand-made check. Whether the *task* is
# right is another question. For that, call harm whatever differs from the reference:

# %%
strict = [audit(ticket, None) for ticket in TICKETS.values() if ticket.edits]
paths = pd.concat([one.survivors["difference"] for one in strict]).str.partition(":")[0]
places = paths.str.replace(r"^audit_log/.*", "audit_log", regex=True)
places = places.str.replace(r"/\w+", "/*", n=1, regex=True)
places.value_counts().rename_axis("where").rename("let through").to_frame()


# %% [markdown]
# These are places that the tasks leave open: the store's own log, and the key and time of a new row.
# (The time of a change is open too; so small a sample has not hit it.) Read such a list for your own
# tasks, and ask of each line: would I mind?
#
# ## What it takes to score nothing
#
# Three agents that deserve no points: one does nothing, one makes every edit of every ticket, and one
# is told nothing that it needs to know. It looks for the answers instead.


# %%
def peeks(call, instruction, rng):
    inside = dict(zip(call.__code__.co_freevars, call.__closure__, strict=True))
    for edit in inside["self"].cell_contents.scenario.edits:
        call(edit.right.tool, **edit.right.arguments)
    return True


# %% [markdown]
# (Where no fault is wanted, the services need no network: `sockets=False` calls them in this process.)
#
# > **Predict.** How many of the ten tickets does each of the three pass?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.simulate.tickets import changes_all

trivial = {}
with desk(sockets=False) as services:
    for policy in (does_nothing, changes_all, peeks, reference):
        setup = Setup(policy.__name__, list(TICKETS), trials=1)
        trivial[policy.__name__] = run_suite(setup, harness(services, policy))
baselines = {name: (int(rows["success"].sum()), 10) for name, rows in trivial.items()}
baselines

# %% [markdown]
# Doing nothing earns the ticket where nothing is to be done, as it should. Zero would be suspicious as
# well. Say what the floor is, and nobody takes it for skill.
#
# The third passes everything, without reading a word. It runs in the grader's own process, and there
# nothing is out of reach: `call` leads to the service, and the service to the answers. A script of
# your own may be trusted not to look. Code of somebody else is run apart (`evalkit.isolation`,
# chapter 05), with the address of the service and nothing more. That is what the service is for.
#
# ## How it got there
#
# Four rules say what no end state shows. They are few, and each has a reason: keep away from two tools
# that can do anything, look at an order before cancelling it, and copy no customer's email anywhere.

# %%
from evalkit.simulate.tickets import RULES

broken = trials["violations"].explode().value_counts()
rules = pd.DataFrame({"rule": [rule.name for rule in RULES]})
rules["Hasty broke it in"] = rules["rule"].map(broken).fillna(0).astype(int)
rules


# %% [markdown]
# Hasty cancels without looking, on every ticket that asks for it. The store happened to refuse where
# it mattered. On the next store it may not.
#
# ## Does it recover?
#
# Inject a fault and watch (chapter 06). Now each episode loses one write: the service answers "done" and
# keeps nothing. The reference never looks, so its failures show where a write was lost.
#
# > **Predict.** Of the tickets on which a write is lost, on how many does Hasty do the job in the end?
# >
# > Your guess (double-click here to write it): ...


# %%
def recovery(policy):
    setup = Setup(policy.__name__, list(TICKETS), trials=1)
    with desk(Faults(lost_write=1), sockets=False) as services:
        lost = run_suite(setup, harness(services, reference))["tag"] == "agent failure"
        kept = run_suite(setup, harness(services, policy))["tag"] == "agent success"
    return f"{(lost & kept).sum()} of {lost.sum()} lost writes made good"


recovery(hasty)

# %% [markdown]
# Three of the nine it fails without any fault, as its eight trials have shown. But on the other six, too,
# the service says "done", and Hasty believes it.
#
# ## The report card
#
# All of this goes on one page. The log knows much of it: trials, attempts, broken rules, conditions. It
# does not know which rules there were, nor how many retries were allowed. What a log cannot know is
# *evidence* that we hand over, with a fingerprint of the state that all tickets start from.

# %%
from evalkit.isolation import fingerprint
from evalkit.report import Evidence, report_card

with World(TICKETS["move"]) as world:
    version = fingerprint(snapshot(world.connection), {"tickets": "1"})
reach = "the policy runs in the grader's process, and finds the task through call"
evidence = dict(tasks=[t.task for t in TICKETS.values()], audits=audits, rules=RULES, retries=3)
floor = {name: baselines[name] for name in ("does_nothing", "changes_all")}
evidence |= dict(baselines=floor, fingerprint=version)
found = Evidence(**evidence, exposures=[reach], stated={"faults": recovery(hasty)})
card = report_card(trials, k=8, evidence=found)
card

# %% [markdown]
# Read it from the top. The headline holds the two rates that count, each with an interval: how often it
# passes, and how often it passes eight times in a row. The intervals are wide, and they ought to be.
# They are about *tickets like these*, and there are ten. More trials would hardly help; more tickets
# would.
#
# Partial credit has beside it the rate at which the same trials did the whole job. (Where there is nothing
# to do there is nothing to earn, so that ticket is in neither.) Credit is the higher one: alone it would
# flatter.
#
# At the end stands the *design checklist*: fourteen questions that a reader of any evaluation may ask. A
# line is met where the data show it or somebody says how, and never by default. Two lines are not met.
#
# - **Reach**: we have just seen why.
# - **Trials**: nearly all of them *repeat one another*. Our script has little luck in it, so on most
#   tickets eight trials say no more than one. Of a model, such a line would say: look for a cache.
#
# An honest card has such lines. What is wanted is not fourteen ticks but a reason beside each cross.
#
# > **Predict.** From the log alone, with no evidence, which lines would stay open?
# >
# > Your guess (double-click here to write it): ...

# %%
bare = report_card(trials, k=8)
print(*(check.item for check in bare.with_status("not stated")), sep="\n")


# %% [markdown]
# *Half-way: a good place for a break.*
#
# ## A better agent
#
# The card says what to mend. *Steady* looks for the customer by the full name, reads before it writes,
# and reads again afterwards. What is not there, it does once more. A new row is read back by the key
# that the tool gave. And if the store refuses an amount, the refusal says how much is left.


# %%
def customer(call, name):
    return next(row["id"] for row in call("search", text=name) if row["name"] == name)


def move(call, wish, rng):
    who = customer(call, wish["name"])
    for _ in range(3):
        if call("read", table="customers", id=who)["address"] == wish["text"]:
            return
        call("update_address", customer_id=who, address=typed(wish["text"], rng))


def cancel(call, wish, rng):
    for _ in range(3):
        if call("read", table="orders", id=wish["order"])["status"] == "cancelled":
            return
        call("cancel_order", order_id=wish["order"])


# %%
def kept(call, tool, table, **what):
    for _ in range(3):
        row = call(tool, **what)
        try:
            return call("read", table=table, id=row["id"])
        except ToolError:
            pass  # the store has lost it


def refund(call, wish, rng):
    total = call("read", table="orders", id=wish["order"])["total_cents"]
    part = wish["amount"].replace(".", "")
    what = dict(order_id=wish["order"], amount_cents=int(part) if part.isdigit() else total)
    try:
        kept(call, "issue_refund", "refunds", **what)
    except ToolError as refusal:
        left = int(re.search(r"(\d+) of its", str(refusal))[1])
        kept(call, "issue_refund", "refunds", **what | {"amount_cents": left})


def note(call, wish, rng):
    who = customer(call, wish["name"])
    kept(call, "add_note", "notes", customer_id=who, text=typed(wish["text"], rng))


# %%
JOBS = {"move": move, "cancel": cancel, "refund": refund, "note": note}


def steady(call, instruction, rng):
    instead = "If that is refused" in instruction
    for kind, wish in wishes(instruction):
        try:
            JOBS[kind](call, wish, rng)
        except ToolError:
            if not instead:
                return False
        else:
            if instead:
                return True
    return not instead


# %% [markdown]
# > **Predict.** What are Steady's pass^1 and pass^8? Which of its faults can it not mend?
# >
# > Your guess (double-click here to write it): ...

# %%
steadily = trial_rows(run("steady", steady), list(TICKETS), 8)
found = Evidence(**evidence, exposures=[reach], stated={"faults": recovery(steady)})
better = report_card(steadily, k=8, evidence=found)
print(better.headline)
print(next(check.why for check in better.checklist if check.name == "faults"))

# %%
figure = new_figure()
plots.draw_curves(figure, {"steady": better.curve, "hasty": card.curve})
one, two = card.curve[-1], better.curve[-1]
captioned(
    figure,
    caption=f"Eight times in eight: Hasty {one.value:.0%}, Steady {two.value:.0%}. With ten tickets "
    f"the intervals reach from {one.low:.0%} to {one.high:.0%} and from {two.low:.0%} to {two.high:.0%}.",
    alt="Two falling curves in wide bands, Steady's far above Hasty's. The bands overlap.",
)

# %% [markdown]
# A note with a slip in it stays: to mend it takes a tool that the rules forbid. So there is something
# left for pass^8 to find.
#
# The bands overlap. Is Steady better, or lucky? Both had the same tickets, and even the same flakes, so
# we compare ticket by ticket (chapter 08). First we make sure that only the agents differ.

# %%
from evalkit.comparison import compare
from evalkit.runlog import check_comparable
from evalkit.trials import counts, trials_table

check_comparable(trials, steadily)
tallies = [counts(trials_table(rows, infra="infra"), planned=8) for rows in (trials, steadily)]
compare(*tallies)

# %% [markdown]
# Better on five tickets and worse on none: with ten tickets that is just enough, and with other luck it
# may just not be. What you may say is: *on tickets like these, Steady is probably better, and nobody
# knows yet by how much*.

# %% [markdown]
# ## A model in its place
#
# `model_policy` makes a policy of any model that answers over the common chat protocol. The loop is
# short: send the instruction and the tools, make the calls that are asked for, send back what came of
# them, until an answer asks for nothing.
#
# To see it without a model, here is one of clay. It knows the answers, and it is clumsy in two ways
# that are worth telling apart.

# %%
import json

import httpx


def asked_for(step, torn):
    arguments = json.dumps(dict(step.arguments))
    function = {"name": step.tool, "arguments": arguments[:-1] if torn else arguments}
    return {"content": None, "tool_calls": [{"id": "1", "type": "function", "function": function}]}


def clay(request):
    asked = json.loads(request.content)
    luck = np.random.default_rng(asked["seed"]).random()
    if luck < 0.03:
        return httpx.Response(503, text="busy")
    told = asked["messages"][1]["content"]
    ticket = next(ticket for ticket in TICKETS.values() if ticket.instruction == told)
    steps = [*ticket.lookups, *(edit.right for edit in ticket.edits)]
    turn = sum(message["role"] == "assistant" for message in asked["messages"])
    said = asked_for(steps[turn], torn=luck > 0.9) if turn < len(steps) else {"content": "DONE"}
    return httpx.Response(200, json={"choices": [{"message": {"role": "assistant", **said}}]})


# %% [markdown]
# In 3% of its answers the endpoint is busy. In 10% the model writes its arguments as torn JSON, and it
# does not care that it is told so.
#
# > **Predict.** Whose failure is the one, and whose is the other?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.simulate.models import Endpoint, model_policy
from evalkit.simulate.store import TOOLS

client = httpx.Client(transport=httpx.MockTransport(clay))
model = model_policy(Endpoint("http://model.invalid/v1/chat/completions", client=client), TOOLS)
setup = Setup("clay", list(TICKETS), trials=4, **CONDITIONS)
with desk(sockets=False) as services:
    made = run_suite(setup, harness(services, model, max_steps=20))
made.groupby(["tag", "kind"]).size().rename("attempts").to_frame()

# %% [markdown]
# A busy endpoint says nothing about the model, so the attempt is tagged and run again. A torn call is
# what the model wrote. It is told, as of a refusal, and may do better; this one does not, and fails.
# Time-outs and lost connections go with the first kind, a context that overflows and turns that run
# out with the second. A wrong key ends the run, since every episode would meet it.
#
# With a model of your own, one variable is enough: `EVALKIT_MODEL_URL`, the address up to
# `/chat/completions`. (`EVALKIT_MODEL` is its name and `EVALKIT_MODEL_KEY` its key, where they are
# needed.) Set it before you start Jupyter. Each step of an episode is one answer of the model, and you
# pay for it.

# %%
from evalkit.simulate.models import endpoint_from_environment

if endpoint := endpoint_from_environment():
    rows = run(f"model {endpoint.model}", model_policy(endpoint, TOOLS), trials=4)
    print(report_card(trial_rows(rows, list(TICKETS), 4), evidence=Evidence(retries=3)))
else:
    print("EVALKIT_MODEL_URL is not set: no model is asked.")

# %% [markdown]
# If your agent lives in a framework of its own, wrap it: a policy is any function that takes `call`,
# lets the agent use it, and returns whether the agent says that it is done.
#
# ## Point it at your own database
#
# Nothing above needs our store. Here is a SQLite file, and in place of an agent two statements: one
# that was asked for, and one that was not.

# %%
import sqlite3
from contextlib import closing

from evalkit import Task

path = Path(folder.name) / "shop.sqlite"
path.unlink(missing_ok=True)
with closing(sqlite3.connect(path)) as shop, shop:
    shop.execute("CREATE TABLE orders (id TEXT PRIMARY KEY, status TEXT, total REAL)")
    shop.executemany("INSERT INTO orders VALUES (?, 'open', ?)", [("A1", 42.5), ("A2", 8.0)])

before = snapshot(path)
with closing(sqlite3.connect(path)) as shop, shop:
    shop.execute("UPDATE orders SET status = 'cancelled' WHERE id = 'A1'")
    shop.execute("UPDATE orders SET total = 80 WHERE id = 'A2'")
verdict = grade(before, snapshot(path), Task(required={"orders/A1/status": "cancelled"}))
verdict.table

# %% [markdown]
# A folder of files, nested JSON or a data frame goes the same way; other databases are read into data
# frames first. What the grader needs is a state before and a state after.
#
# ## Point it at your own logs
#
# One row a trial with `task`, `trial` and `success` is enough, as CSV, JSON Lines or Parquet. Columns
# named `infra`, `steps`, `cost` and so on are used where they are there. In a terminal you write
# `python -m evalkit report mine.csv`; here the same command is called as a function.

# %%
from evalkit.__main__ import main

mine = Path(folder.name) / "mine.csv"
lines = ["task,trial,success,infra", "login,0,true,false", "login,1,,true", "login,2,false,false"]
lines += ["search,0,true,false", "search,1,true,false", "search,2,true,false"]
_ = mine.write_text("\n".join(lines))
_ = main(["report", str(mine), "--planned", "4"])

# %% [markdown]
# Of most lines it says that nothing is stated, and what to do. `--evidence` takes a JSON file with what
# you know, `--html` writes one page to pass on, and `--json` the numbers. It reads the log of `run` as
# well, and the result files of several public benchmarks ([README](../README.md)).
#
# ## Panel: what will the card say?
#
# An agent with 40 tasks, and the card that you would write. The line is the truth, which you never see
# outside of a simulation.
#
# **Think about:** *When a trial fails* it is tagged and retried, counted as failed, or whatever failed is
# retried. Which makes the card look best? And which line of the checklist gives it away?

# %%
plots.card_panel()

# %% [markdown]
# ## What these numbers rest on
#
# - **Ten tickets of ours.** They were written for this chapter, and the interval is for tickets like
#   them. Yours will differ.
# - **A script stands in for an agent.** Its luck is a slip of the keyboard. A model has more kinds, and
#   they come together (chapter 11).
# - **Faults that we know.** The service fails as it is told. Of the faults of a real one you know only
#   those that show.
# - **The checklist asks whether, not how well.** A line is met by a reason, and a reason may be poor.
#
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("13.a")


# %%
def refund_the_rest(call, instruction, rng):
    return ...


check("13.a", refund_the_rest)

# %%
show("13.b")


# %%
def tried_again(trajectory):
    return ...


check("13.b", tried_again)

# %%
show("13.c")

# %%
which_user = ...
check("13.c", which_user)

# %%
show("13.d")

# %%
checklist = {
    "trials": ...,
    "infra": ...,
    "reach": ...,
    "user": ...,
    "baselines": ...,
}
check("13.d", checklist)

# %% [markdown]
# ## Capstone
#
# *90 minutes, alone or in pairs.* Bring an agent, or write one, and hand in its report card. Each line
# of the checklist is met, or explained in a sentence.
#
# | step | minutes | what to do | a finished answer holds |
# | --- | --- | --- | --- |
# | 1 | 10 | Choose: mend Hasty on your own, wrap an agent of yours, or set `EVALKIT_MODEL_URL`. | a policy that plays one ticket with `play` |
# | 2 | 15 | Add two tickets of your own, as in `TICKETS["mine"] = tickets.ticket("mine", tickets.cancel("W1006"))` (`from evalkit.simulate import tickets`), or a task on your own database. | for each: the reference passes, doing nothing fails, and you have read what it lets through |
# | 3 | 10 | Write down two process rules, and why. | rules that the reference keeps |
# | 4 | 5 | Write down a guess of pass^1 and pass^8. | two numbers |
# | 5 | 15 | Run 8 trials of each, with faults and tagged retries, to a log. | a log that goes on where it was cut off |
# | 6 | 10 | Lose one write in each episode, and run again. | how many were made good |
# | 7 | 10 | Make the card, with all your evidence. | `card.to_html()` in a file |
# | 8 | 15 | Go through the checklist, line by line. | a reason for each line that is not met |
#
# Then compare with a neighbour, by ticket. Three questions to finish:
#
# - Which of your two guesses was farther off, and in which direction?
# - Which line of your checklist would you be asked about first?
# - What would change if you could afford ten times the trials? And ten times the tickets?

# %% [markdown]
# ## Questions that are often asked
#
# Practitioners ask these in public. Each answer is short, and says where the long one is: the chapter,
# and the section whose figure or table shows it.
#
# **Why does pass^k drop so fast, when pass^1 looks fine?** Because a single failure among k trials
# spoils the task. How fast it drops depends on how unlike the tasks are, so measure it, and do not raise
# pass^1 to a power. ([07](07_every_time.ipynb), *The whole surface*, and
# [08](08_real_tasks_differ.ipynb), *A suite of 120 tasks*. A
# [pull request to Inspect](https://github.com/UKGovernmentBEIS/inspect_ai/pull/3969) that adds the
# estimator gives the example that made it known.)
#
# **How many trials do I need?** At least k for pass^k, better more; and for a narrower interval mostly
# more *tasks*. ([08](08_real_tasks_differ.ipynb), *How many tasks, how many trials?* One agent's eight
# trials of τ-bench retail lie between 0.61 and 0.75, counted in
# [issue 57](https://github.com/sierra-research/tau-bench/issues/57).)
#
# **I use temperature 0. Do I still need several trials?** Yes. Users report scores that
# [differ by more than ten points](https://github.com/sierra-research/tau2-bench/issues/51) at temperature 0, and
# with [everything pinned](https://github.com/Tongyi-MAI/MobileWorld/issues/58) 8 of 29 tasks changed
# their result. Servers batch, tools vary, users are simulated. If your trials *are* all alike, look for
# a cache. ([09](09_flaky_environments.ipynb), *Trials that are too much alike*.)
#
# **Should a time-out count as a failure?** Ask whose clock it was. A limit that you gave the agent in
# advance is its budget: it failed. A tool that did not answer is the environment's: tag it, and run
# again. One project had to
# [tell the two apart](https://github.com/marin-community/marin/pull/8947) after 30 of 100 trials ended
# that way. ([09](09_flaky_environments.ipynb), *Whose failure was it?*)
#
# **My grader fails correct answers. May I loosen it?** Declare what may be written otherwise, field by
# field, and let everything else be exact. A required word fails a good post
# ([WebArena, issue 134](https://github.com/web-arena-x/webarena/issues/134)), and a required "0" fails
# "$0.00" ([issue 211](https://github.com/web-arena-x/webarena/issues/211)). ([04](04_state_diff.ipynb),
# *Break 5: cosmetics*, and [05](05_audit_your_grader.ipynb), *The other mistake*.)
#
# **It did the job and deleted something else. Is that a pass?** Not here. In an
# [audit of a public benchmark](https://github.com/UKGovernmentBEIS/inspect_ai/issues/4461), 40 of 83
# tasks still passed after a careless deletion. ([01](01_four_scoreboards.ipynb), *The reversal*, and
# [04](04_state_diff.ipynb), *Break 4*.)
#
# **Can I use a model as the judge?** Where no code can decide, yes: with a few hundred labels by hand to
# correct it. Its verdict is [not the same each time](https://github.com/mastra-ai/mastra/issues/1990); in
# one project the same patch got
# [0.40 and then 1.00](https://github.com/przeprogramowani/10x-bench-kit/pull/7).
# ([02](02_outcome_or_trajectory.ipynb), *A judge reads the trajectory*.)
#
# **Is partial credit acceptable?** For training and for diagnosis, which is why
# [it was proposed](https://github.com/sierra-research/tau2-bench/pull/151) for τ²-bench. As a score only
# beside full completion: it compresses differences and rewards damage.
# ([03](03_partial_credit.ipynb), *What credit compresses*.)
#
# **A is two points ahead of B on a leaderboard. Is it better?** Pair them by task. On one leaderboard
# the [first eight](https://github.com/SWE-bench/SWE-bench/issues/621) span 2.8 points, and with 500
# tasks none of the other seven can be told from the first. ([08](08_real_tasks_differ.ipynb), *Two agents on the same tasks*; at
# equal budgets only: [10](10_budgets.ipynb), *One agent, two caps*.)
#
# **An agent that does nothing scores half. Is the benchmark broken?** It is if you do not say so: that
# was [found](https://github.com/dbt-labs/ade-bench/issues/7) by running one. Report the floor, and the
# tasks above it apart. ([05](05_audit_your_grader.ipynb), *What doing nothing earns*.)
#
# **Can the agent see the answers?** Look from where it runs. In the images of a well-known benchmark the
# fixing commit was [in the git history](https://github.com/SWE-bench/SWE-bench/issues/465).
# ([05](05_audit_your_grader.ipynb), *A grader that the agent can see*, and `peeks` above.)
#
# **Old and new results differ. Did the agent get worse?** First ask whether it is the same environment.
# A leaderboard held runs
# [of 11 tasks beside runs of 23](https://github.com/pinchbench/skill/issues/5). Keep the version and a
# fingerprint beside each result. ([05](05_audit_your_grader.ipynb), *Environments drift*.)

# %% [markdown]
# ## Key points
#
# - An agent is a function that is given a call and an instruction. A script and a model run on one
#   harness, and get the same card.
# - Test the grader and score agents that deserve nothing before you look at your own agent's score.
# - Log each attempt with its conditions. Evidence that no log holds is handed over, or stays open.
# - Two rates belong on top: how often it passes, and how often it passes every time, each with an
#   interval. Then the checklist, with a reason beside each line that is not met.
#
# **Next:** [14, every number](14_every_number.ipynb) of the note, with ours beside it.
#
# **Sources.** The checklist follows the source note. pass^k and simulated users: Yao et al., *τ-bench*
# (2024). Seeing and reaching the grader: Zhu et al., *Establishing Best Practices for Building Rigorous
# Agentic Benchmarks* (2025). Error bars: Miller, *Adding Error Bars to Evals* (2024). The public threads
# are linked where they stand.
