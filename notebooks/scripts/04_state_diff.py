# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 04 State diff: what changed, and what else did
#
# **Did the agent do what was asked, and did it do anything else?**
#
# You will be able to
#
# - write a grader that looks at the whole state, and say what each of its lines is for;
# - name the ways in which such a grader is fooled, and show each on an example;
# - state a task so narrowly that damage cannot hide in it.
#
# *Reading: 50 minutes. Exercises: 36 minutes. Needs: chapter 01 and a little Python.*

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
# ## One episode
#
# Here is the store of customers and orders, a real SQLite database. (This chapter keeps to it, whatever
# scenario you chose.) A snapshot is a copy of everything in it, as nested dictionaries: table, row,
# field.

# %%
from evalkit import snapshot
from evalkit.simulate.store import CUSTOMER_OPERATIONS
from evalkit.simulate.world import World

before = snapshot(World(CUSTOMER_OPERATIONS, seed=4).connection)
before["orders"]["W1001"]

# %% [markdown]
# The agent is asked to cancel order W1001. It does. It also changes something else.

# %%
world = World(CUSTOMER_OPERATIONS, seed=4)
world.call("cancel_order", order_id="W1001")
world.call("edit_record", table="customers", id="C5", column="tier", value="gold")
after = snapshot(world.connection)

# %% [markdown]
# > **Predict.** In how many places, fields or whole rows, does the database differ now?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit import state_diff

diff = state_diff(before, after)
print(len(diff), "changes")
diff


# %% [markdown]
# All this for two calls. Each call wrote the field that it names, the row's time stamp, and a line
# in the audit log. A grader that looks at the order's status sees one of these changes.

# %% [markdown]
# ## A grader in ten lines
#
# Let $\Delta$ be the places whose value changed, $R$ the required places with their values, and
# $A$ the places that may change. The episode passes when every place in $R$ holds its value and
#
# $$ \Delta \setminus (R \cup A) = \varnothing . $$
#
# In words: the job was done, and nothing outside the required ($R$) and the allowed ($A$) changed.
# ($\setminus$ takes a set away from another, $\cup$ joins two, $\varnothing$ is the empty set.)


# %%
def flat(state, path=""):
    for key, value in state.items():
        if isinstance(value, dict):
            yield from flat(value, f"{path}{key}/")
        else:
            yield f"{path}{key}", value


# %%
def passes(before, after, required, allowed=()):
    old, new = dict(flat(before)), dict(flat(after))
    changed = {place for place in old | new if old.get(place) != new.get(place)}
    done = all(new.get(place) == value for place, value in required.items())
    return done and not changed - set(required) - set(allowed)


# %% [markdown]
# On a small store, the honest ending passes. The careless one, which cancelled two orders, does not.

# %%
store = {"orders": {"W1": {"status": "open"}, "W2": {"status": "open"}}}
honest = {"orders": {"W1": {"status": "cancelled"}, "W2": {"status": "open"}}}
careless = {"orders": {"W1": {"status": "cancelled"}, "W2": {"status": "cancelled"}}}
cancel = {"orders/W1/status": "cancelled"}
passes(store, honest, cancel), passes(store, careless, cancel)

# %% [markdown]
# The rest of this chapter breaks these lines, one way at a time, and puts the same question to
# `evalkit`. Most of the breaks were found in graders that people use, or in the libraries below them.
# The list of sources links to the public reports.

# %% [markdown]
# ## Break 1: values that are not what they seem
#
# > **Predict.** Each row below is a damaged field. Which of them does the ten-line grader notice?
# >
# > Your guess (double-click here to write it): ...

# %%
import pandas as pd

damaged = {
    "1 became True": ({"f": 1}, {"f": True}),
    "2 became 2.0": ({"f": 2}, {"f": 2.0}),
    "2 became 2.0 in a list": ({"f": [2]}, {"f": [2.0]}),
    "None was removed": ({"f": None}, {}),
    "empty text became None": ({"f": ""}, {"f": None}),
}
ten_lines = [not passes(old, new, {}) for old, new in damaged.values()]
typed = [bool(state_diff(old, new)) for old, new in damaged.values()]
pd.DataFrame({"ten lines see it": ten_lines, "evalkit sees it": typed}, index=list(damaged))

# %% [markdown]
# Python's `==` takes `True` for 1 and 2.0 for 2, and `.get` takes a field that is gone for one that
# holds `None`. `evalkit` compares a value as it is stored, type included, at every depth. What is
# not there is `MISSING`, which equals nothing else.
#
# The opposite mistake exists too. A not-a-number differs from itself:

# %%
gauge = {"sensor": {"reading": float("nan")}}
copied = {"sensor": {"reading": float("nan")}}
passes(gauge, copied, {}), bool(state_diff(gauge, copied))

# %% [markdown]
# Nothing happened, and the ten lines fail the agent for it.

# %% [markdown]
# ## Break 2: places that are not what they seem
#
# Our paths are text. A key that holds a slash, and an integer key beside its text, collide.

# %%
old = {"files": {"a/b": "draft", "a": {"b": "final"}}}
new = {"files": {"a/b": "gone!", "a": {"b": "final"}}}
passes(old, new, {}), [change.path for change in state_diff(old, new)]

# %% [markdown]
# One of the two places hid the other. In `evalkit` a path is a tuple of keys. `"a/b/c"` is its
# shorthand, and where the shorthand could mean two places, it is an error.

# %%
from evalkit import Task, grade

try:
    grade({"cart": {7: 1, "7": 1}}, {"cart": {7: 2, "7": 1}}, Task(required={"cart/7": 2}))
except ValueError as error:
    print(error)

# %% [markdown]
# There is one more hole. `flat` yields fields, and an empty row has none.

# %%
old = {"sessions": {"s1": {"user": "ada"}}}
new = {"sessions": {"s1": {"user": "ada"}, "s2": {}}}
passes(old, new, {}), [change.path for change in state_diff(old, new)]

# %% [markdown]
# ## Break 3: the new row
#
# A refund gets its number from the database. A task cannot require `refunds/2/amount`: if another
# refund comes first, this one is number 3. So a new row is stated by its content. `free` names the
# columns that may hold anything.

# %%
from evalkit import Created

refunded = Task(created=[Created("refunds", order="W1", amount=42.5, free=["id"])])
empty = {"refunds": {}}
once = {"refunds": {7: {"id": 7, "order": "W1", "amount": 42.5}}}
grade(empty, once, refunded)

# %% [markdown]
# Rows and specifications match one to one.
#
# > **Predict.** What is the verdict on an agent that pays twice?
# >
# > Your guess (double-click here to write it): ...

# %%
twice = {"refunds": {n: {"id": n, "order": "W1", "amount": 42.5} for n in (7, 8)}}
grade(empty, twice, refunded)

# %% [markdown]
# A grader that asks "is there a refund of 42.50?" passes this. The customer has the money twice.
#
# A column that is neither stated nor free is collateral too:

# %%
noted = {"refunds": {7: {"id": 7, "order": "W1", "amount": 42.5, "approved_by": "nobody"}}}
print(grade(empty, noted, refunded))

# %% [markdown]
# ## Break 4: allowed, and how wide
#
# Cancelling an order moves its time stamp and writes a line of the log. Both must be allowed, or
# nobody passes. The question is how much else you allow by the way.

# %%
from evalkit import Allowed

narrow = [Allowed("audit_log/*", only="added"), Allowed("orders/W1001/updated_at", when="instant")]
task = Task(required={"orders/W1001/status": "cancelled"}, allowed=narrow)
print(grade(before, after, task))

# %% [markdown]
# Read the table from the top. The customer's tier is collateral, and so is the time stamp of a
# customer who was not to be touched. The log may grow, and `only="added"` keeps its old lines as they
# are. `when="instant"` lets the order's time stamp hold any time, and nothing but a time.
#
# A pattern that covers a whole table has to say so, because it is rarely meant:

# %%
try:
    Allowed("orders/*")
except ValueError as error:
    print(error)

# %% [markdown]
# The verdict reports how much of the state the allowed patterns cover. What does width cost? Here are
# twelve endings of one episode, in which order W1 was to be cancelled and refunded:

# %%
from evalkit.course.plots import chapter_04 as plots

endings = [(name, should) for name, should, _ in plots.ENDINGS]
pd.DataFrame(endings, columns=["ending", "should pass"])

# %% [markdown]
# > **Predict.** Nine of them are harmful. If the whole orders table may change, how many of the nine
# > pass?
# >
# > Your guess (double-click here to write it): ...

# %%
widths = []
for allowed in plots.ORDERS:
    stated = plots.task(allowed, "new lines", "as a number", "as a multiset")
    table = plots.verdicts(stated)
    harmful = int((table["passes"] & ~table["should pass"]).sum())
    covered = grade(plots.BEFORE, plots.BEFORE, stated).allowed_share
    widths.append((allowed, round(100 * covered, 1), harmful))
widths = pd.DataFrame(widths, columns=["allowed", "covered %", "harmful passing"])
widths

# %% [markdown]
# Five: all the damage that lies in the orders table. (What may change cannot be required as well, so
# there even the status is not asked for.) The first two rows cover the same field, and the condition
# catches what is no time.

# %%
from evalkit.course.figures import captioned, new_figure

figure = new_figure()
plots.draw_width(figure, widths)
captioned(
    figure,
    caption="The more is allowed, the more damage passes: "
    f"from {widths['harmful passing'].min()} to {widths['harmful passing'].max()} of 9 endings.",
    alt="A rising line: harmful endings that pass, against the share of the state that may change.",
)

# %% [markdown]
# *Half-way: a good place for a break.*
#
# ## Break 5: cosmetics
#
# The other side of the coin. `"42.50"` and `"42.5"` are one amount. Two gift cards in another order
# are the same two cards. A grader that fails these is wrong as well.
#
# The cure is to *declare* the form of a field. Without a declaration nothing is forgiven.

# %%
gold = {"reservation": {"paid": [{"card": "g1", "amount": 198}, {"card": "g2", "amount": 129}]}}
found = {"reservation": {"paid": [{"card": "g2", "amount": 129.0}, {"card": "g1", "amount": 198}]}}
forms = {"reservation/paid": "multiset", "reservation/paid/*/amount": "number"}
bool(state_diff(gold, found)), bool(state_diff(gold, found, forms))

# %% [markdown]
# These are the forms that there are, each on two values. The last column says whether the two are one
# under the form. A list with no declared form is a sequence.

# %%
plots.forms_table()

# %% [markdown]
# A *multiset* ignores the order and keeps the count. A set loses the count: with it, one gift card
# used twice equals one used once.

# %%
bought = {"order": {"tags": ["gift", "fragile", "gift"]}}
shipped = {"order": {"tags": ["fragile", "gift"]}}
print(state_diff(bought, shipped, {"order/tags": "multiset"}))
print(state_diff(bought, shipped, {"order/tags": "set"}))

# %% [markdown]
# ## Break 6: tasks that nobody can fail
#
# > **Predict.** What do the ten lines say of an agent that does nothing, when nothing is
# > required? And when what is required was true from the start?
# >
# > Your guess (double-click here to write it): ...

# %%
wifi = {"wifi": {"on": True}}
passes(wifi, wifi, {}), passes(wifi, wifi, {"wifi/on": True})

# %% [markdown]
# Two passes, for nothing. `evalkit` has three verdicts, and a pass is never the default:

# %%
print(grade(wifi, wifi, Task()))
print(grade(wifi, wifi, Task(required={"wifi/on": True})))
print(grade(wifi, wifi, Task(unchanged=True)))

# %% [markdown]
# *Vacuous* is what held from the start. If the right thing is to do nothing, state it:
# `unchanged=True`. The verdict is then a pass, with a note that an agent that does nothing gets it too.
# Chapter 05 asks what such an agent earns on whole benchmarks.

# %% [markdown]
# ## Break 7: the snapshot
#
# A snapshot has to be a copy. Python's `dict(...)` copies the outer dictionary only.

# %%
live = {"order": {"items": ["book"]}}
shallow, deep = dict(live), snapshot(live)
live["order"]["items"].append("car")
bool(state_diff(shallow, live)), bool(state_diff(deep, live))

# %% [markdown]
# A database brings its own traps. A table without a primary key has no names for its rows. It is
# still read: as a multiset of rows, so that a second identical row counts.

# %%
import sqlite3

shop = sqlite3.connect(":memory:")
_ = shop.executescript("CREATE TABLE visits (who TEXT); INSERT INTO visits VALUES ('ada')")
start = snapshot(shop)
_ = shop.execute("INSERT INTO visits VALUES ('ada')")
len(state_diff(start, snapshot(shop)).added)

# %% [markdown]
# The schema counts too. An agent that plants a trigger changes what every later write will do.

# %%
_ = shop.execute(
    "CREATE TRIGGER IF NOT EXISTS t AFTER INSERT ON visits BEGIN DELETE FROM visits; END"
)
[change.path for change in state_diff(start, snapshot(shop)) if change.path[0] == "sqlite_schema"]

# %% [markdown]
# ## A directory
#
# An agent that works on files leaves files. Here is a small office: a price list and a ticket. `cells`
# names the files to take field by field; any other is known by its checksum.

# %%
import json
import tempfile
from pathlib import Path

office = Path(tempfile.mkdtemp())
(office / "prices.csv").write_text("item,price\nkettle,42.50\ntoaster,39.00\n")
(office / "tickets").mkdir()
(office / "tickets" / "T1.json").write_text(json.dumps({"status": "open", "votes": 2}))
start = snapshot(office, cells=("*.csv", "*.json"))

# %% [markdown]
# The agent is to close the ticket. It closes it, and it also opens the price list in a program that
# drops the trailing zeros.

# %%
(office / "tickets" / "T1.json").write_text(json.dumps({"status": "closed", "votes": 2}))
(office / "prices.csv").write_text("item,price\nkettle,42.5\ntoaster,39\n")
end = snapshot(office, cells=("*.csv", "*.json"))
close = {"tickets/T1.json/content/status": "closed"}
print(grade(start, end, Task(required=close)))

# %% [markdown]
# Whether that is damage, the task decides. If prices are numbers, say so:

# %%
prices = {"prices.csv/rows/*/price": "number"}
print(grade(start, end, Task(required=close, forms=prices)))

# %% [markdown]
# ## Goals that are states
#
# Many benchmarks state a goal as a whole state: run the right actions, and keep the result. Such a
# goal becomes a task. What the goal changes is required, and nothing else may change.

# %%
goal = Task.from_goal(store, honest)
goal.required, grade(store, honest, goal).status, grade(store, careless, goal).status

# %% [markdown]
# A goal can be wrong in the same way as the agent. In
# [one public benchmark](https://github.com/sierra-research/tau2-bench/issues/317) a tool corrupted a
# price, in the goal and in every run alike, and the comparison found no difference. An *invariant* is
# checked on the end state, whatever the goal says.

# %%
from evalkit import Invariant

listed = {"catalogue": {"kettle": 42.5}, "order": {"item": "kettle", "price": 42.5}}
corrupt = {"catalogue": {"kettle": 42.5}, "order": {"item": "kettle", "price": 268.77}}
as_listed = Invariant(
    "the price is the catalogue's", lambda s: s["order"]["price"] == s["catalogue"]["kettle"]
)
print(grade(listed, corrupt, Task.from_goal(listed, corrupt)).status)
print(grade(listed, corrupt, Task.from_goal(listed, corrupt, invariants=[as_listed])))

# %% [markdown]
# ## What no diff can see
#
# Damage that is done and undone leaves no trace in the end state.

# %%
world = World(CUSTOMER_OPERATIONS, seed=4)
world.call("edit_record", table="customers", id="C5", column="tier", value="gold")
world.call("edit_record", table="customers", id="C5", column="tier", value="standard")
tiers = [s["customers"]["C5"]["tier"] for s in (before, snapshot(world.connection))]
tiers, [action.tool for action in world.trajectory]

# %% [markdown]
# For a moment the tier was gold, and perhaps a discount was paid in that moment. Only the trajectory
# knows, and chapter 02 has rules for it.

# %% [markdown]
# ## Panel: state the task
#
# The twelve endings again. The first three should pass, the other nine should fail. As in chapter 02, a
# ring is a pass, a cross is a fail, and a box marks a wrong verdict.
#
# **Think about:** find the setting with no box. Then change one control at a time. Which mistakes
# let damage through, and which fail a good agent?

# %%
plots.verdicts_panel()

# %% [markdown]
# ## What these numbers rest on
#
# - **The endings are ours.** Each of the nine harmful ones shows one kind of damage. How often real agents
#   do such things, they do not say.
# - **The state is tiny.** The share that a pattern covers counts fields, and takes every field for as
#   important as the next. In a store of thousands of orders the same pattern has another share.
# - **A snapshot holds what we took.** An e-mail that was sent, or a record in another system, is in no
#   diff of this database.
# - **Forms and allowed patterns are decisions.** They are as good as the person who states them knows the
#   records. Chapter 05 tests them.

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("04.a")


# %%
def changed_fields(before, after):
    return ...


check("04.a", changed_fields)

# %%
show("04.b")

# %%
forms_for_the_export = {
    "invoice/total": ...,
    "invoice/lines": ...,
    "invoice/customer_id": ...,
    "invoice/sent_at": ...,
}
check("04.b", forms_for_the_export)

# %%
show("04.c")

# %%
move_house = ...
check("04.c", move_house)

# %%
show("04.d")

# %%
gift_cards = ...
check("04.d", gift_cards)

# %% [markdown]
# ## Key points
#
# - A grader looks at every change: what is required, what is allowed, and everything else.
# - Values are compared as stored. What may be written in two ways is declared, field by field.
# - A new row is stated by its content, and two of them are one too many.
# - What is allowed is narrow, and the verdict says how much it covers.
# - Pass, fail, not evaluated: a task that nobody can fail is not passed.
#
# **Next:** chapter 05 turns this round and grades the grader.
#
# **Sources.** Goal-state comparison: Yao et al., τ-bench (2024). State tests with a check for
# collateral damage: Trivedi et al., AppWorld (2024).
#
# Public reports of the faults:
#
# - Break 1: [True for 1](https://github.com/stefankoegl/python-json-patch/issues/90),
#   [2.0 for 2 in a list](https://github.com/qlustered/deepdiff/issues/605),
#   [null for 0](https://github.com/THUDM/AgentBench/issues/234),
#   [a not-a-number that stayed](https://github.com/qlustered/deepdiff/issues/148).
# - Break 4: [a log inside the compared state](https://github.com/sierra-research/tau2-bench/pull/329).
# - Break 5: [a trailing zero](https://github.com/Toloka/tolokaforge/pull/532),
#   [25 and 25.0](https://github.com/sierra-research/tau2-bench/pull/397),
#   [the order of payments](https://github.com/sierra-research/tau2-bench/issues/514),
#   [a lost count](https://github.com/qlustered/deepdiff/issues/234).
# - Break 6: [true from the start](https://github.com/google-research/android_world/issues/315),
#   [nothing stated](https://github.com/sierra-research/tau2-bench/issues/384),
#   [no checks](https://github.com/Toloka/tolokaforge/issues/733).
#
# Breaks 2, 3 and 7 we found by trying graders and diff libraries ourselves. The tests of `evalkit` hold
# each fault with the right answer.
