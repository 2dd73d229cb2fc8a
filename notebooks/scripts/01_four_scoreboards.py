# ---
# jupyter:
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # 01 Four scoreboards: which agent is better?
#
# **Two agents do the same job many times. Four graders watch. Do they agree on who is better?**
#
# You will be able to
#
# - say what each of four common graders looks at, and what it cannot see;
# - put a standard error beside a lead, and tell when there are too few episodes to rank;
# - compute how many unintended writes a better editor may make before it is the worse agent.
#
# 45 minutes of reading, 42 of exercises. You need a little Python and NumPy.

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
# An *episode* is one run of an agent on a task. Here is the task as the agent is told it, and below
# it the edits that the task requires:

# %%
from evalkit.simulate import SCENARIO

print(SCENARIO.instruction)
[edit.label for edit in SCENARIO.edits]


# %% [markdown]
# The records are real: tables in a SQLite database. A `World` holds one, with the tools that an agent
# may use. An agent is a function. It is given `call`, which uses a tool, and returns whether it
# *claims* success.
#
# This one looks things up (`lookups`), makes every edit as the task wants it (`edit.right`), adds one
# *stray*, and says that all is done. A stray is a call with an **unintended write**, one that nobody
# asked for. The change that it leaves is **collateral**.


# %%
def eager(call, instruction, rng):
    job = [*SCENARIO.lookups, *(edit.right for edit in SCENARIO.edits)]
    for step in [*job, SCENARIO.strays[0].call]:
        call(step.tool, **step.arguments)
    return True


# %%
import numpy as np

from evalkit.simulate.episodes import play
from evalkit.simulate.world import World

world = World(SCENARIO, seed=1)
episode = play(eager, world, np.random.default_rng(1))
[action.tool for action in episode.trajectory]

# %% [markdown]
# ## Four graders
#
# A grader turns an episode into a number from 0 to 1. These four are in wide use. Each is one line:

# %%
import inspect

from evalkit.simulate.scoreboards import GRADERS

for grader in GRADERS.values():
    print(inspect.getsource(grader))

# %% [markdown]
# - The **own report** believes what the agent says at the end.
# - **Partial credit** counts the required changes, and gives the share that was made.
# - **Targets only** wants all of the required changes, and looks at nothing but them.
# - The **full diff** compares the whole database before and after. Every required change must be
#   there, and no other.
#
# > **Predict.** What does each of them give the episode that we just played?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.simulate.scoreboards import scores

scores([episode])

# %% [markdown]
# Three graders give full marks. The fourth gives nothing. The verdict behind it says why. Read it from
# the top: what is wrong comes first, then what the task allows (the log, the time stamps), then what it
# requires. (Chapter 04 explains the end of its first line.)

# %%
episode.verdict

# %% [markdown]
# Collateral is any change that is neither required nor allowed; the last column of the scores is 1
# when there is some. Here it stands in a record that the task does not mention, so a grader that looks
# at the task's own records cannot find it.
#
# One episode ranks nobody, though. We need two agents and many episodes.

# %% [markdown]
# ## Two agents
#
# Both are simulated. Chance decides, edit by edit and action by action, with these probabilities:

# %%
from dataclasses import asdict

import pandas as pd

from evalkit.simulate.agents import AGGRESSIVE, CAREFUL

pd.DataFrame([asdict(CAREFUL), asdict(AGGRESSIVE)]).set_index("name")

# %% [markdown]
# - `edit`: a required edit is made right;
# - `write`: an action brings an unintended write with it;
# - `claim_unfinished`: the agent claims success although an edit is not right. When all are right,
#   both agents always claim success.
#
# Aggressive is the better editor. It also leaves more behind, and it is readier to say that all is
# done. These are the strays that it draws from:

# %%
[stray.label for stray in SCENARIO.strays]

# %% [markdown]
# > **Predict.** Each agent does the job many times. On which scoreboards does Aggressive come
# > first?
# >
# > Your guess (double-click here to write it): ...

# %% [markdown]
# ## Four hundred episodes, really played
#
# Every episode starts from a fresh database, is played through the tools, and is graded by comparing
# the database after it with the one before.

# %%
from evalkit.simulate.agents import simulated
from evalkit.simulate.episodes import play_many

rng, played = np.random.default_rng(1), {}
for agent in (CAREFUL, AGGRESSIVE):
    episodes = play_many(simulated(agent, SCENARIO), world, 400, rng, agent.name)
    played[agent.name] = scores(episodes)

# %%
from evalkit.simulate.scoreboards import scoreboard

(100 * scoreboard(played)).round(1)

# %% [markdown]
# Each row is a scoreboard, in percent, and `lead` is Aggressive minus Careful. `SE` is the standard
# error: how far off such a mean tends to be by luck. It is the standard deviation of the scores (how
# far they scatter) over the root of their number. For a lead, square both errors, add, take the root.
#
# A rule of thumb: a lead of one standard error happens by luck all the time, one of three hardly ever.
# Three graders put Aggressive first by more than that. Under the full diff the order is, this time,
# the other way round. The last row says what they miss: the share of episodes that left collateral.
#
# But the full diff's lead is about as large as its own error. How often do four hundred episodes mislead?
# We simulate far more, cut them into batches of four hundred, and look at each as if it were all we had.

# %% [markdown]
# ## Twenty thousand episodes
#
# Chance decides few things, so many episodes end alike. `simulate` draws all of them, plays each
# distinct one once on a real database, and has it graded there. Nothing is graded by a formula.

# %%
from evalkit.simulate.scoreboards import simulate

tables = {
    CAREFUL.name: simulate(CAREFUL, SCENARIO, np.random.default_rng(1), 20_000),
    AGGRESSIVE.name: simulate(AGGRESSIVE, SCENARIO, np.random.default_rng(2), 20_000),
}
board = scoreboard(tables)
(100 * board).round(1)

# %% [markdown]
# Now the batches.
#
# > **Predict.** In what share of them does each grader put Aggressive first?
# >
# > Your guess (double-click here to write it): ...

# %%
batch = np.arange(20_000) // 400
means = {name: table[list(GRADERS)].groupby(batch).mean() for name, table in tables.items()}
ahead = means[AGGRESSIVE.name] > means[CAREFUL.name]
pd.DataFrame({"batches with Aggressive first (%)": (100 * ahead.mean()).round().astype(int)})

# %% [markdown]
# Where a grader cannot see the damage, every batch puts Aggressive first. More episodes do not help: they
# only make the same answer surer.
#
# The full diff asks the right question, and a fifth of the batches still answer it wrongly. That is
# luck, and more episodes cure it. Exercise 01.c asks how many it takes.

# %% [markdown]
# ## The reversal

# %%
leads = (100 * board.loc[list(GRADERS), ["lead", "lead SE"]]).round(1)
leads["in standard errors"] = (board["lead"] / board["lead SE"]).round().astype(int)
*blind, full = leads["lead"]
leads

# %%
from evalkit.course.figures import captioned, new_figure
from evalkit.course.plots import chapter_01 as plots

figure = new_figure()
plots.draw_scoreboards(figure, board)
captioned(
    figure,
    caption=f"Three scoreboards put Aggressive first, by {min(blind)} to {max(blind)} points. "
    f"The full diff puts Careful first, by {-full}.",
    alt="Four pairs of bars. Aggressive's is the taller in the first three, Careful's in the last.",
)

# %% [markdown]
# All four leads are many standard errors wide, so none of them is luck. The graders disagree because
# they look at different things.
#
# Which of them is right? That is not a question of statistics. Ask whose records these are.
#
# It happens outside simulations too. A task of a public benchmark asks an agent to upgrade a production
# cluster. In three runs the agent destroyed the cluster and rebuilt it. Each run was counted a success,
# with a score between 0.7 and 0.8
# ([pull request 108](https://github.com/kubernetes-sigs/devops-bench/pull/108), under *Why*; it adds
# such a check to another task). Nothing in that grader looked at what was lost.

# %% [markdown]
# ## What full marks hide
#
# Partial credit says how far an agent gets. Beside it stand two graders that give all or nothing, one
# without and one with a look at the rest of the records. Read the last three pairs of bars from left to right. First the gap
# between the agents grows: a job with one edit of four missing still earns three quarters, so partial
# credit makes agents look alike. Then Aggressive loses the finished episodes in which it also left
# collateral, and the order flips.
#
# The next table takes this apart: the share of all episodes, in percent, by partial credit and by
# whether the rest was left alone.

# %%
pd.concat({name: plots.credit_shares(table).round(1) for name, table in tables.items()}, axis=1)

# %%
figure = new_figure(height=300)
plots.draw_credit(figure, tables)
hidden = {name: plots.credit_shares(table).iloc[-1, 1] for name, table in tables.items()}
captioned(
    figure,
    caption=f"{hidden['Aggressive']:.1f}% of Aggressive's episodes made every required change and "
    f"left collateral as well; {hidden['Careful']:.1f}% of Careful's did.",
    alt="Bars of episodes by required changes made; a hatched part marks those with collateral.",
)

# %% [markdown]
# ## What a claim is worth
#
# > **Predict.** Of the episodes in which an agent claims success, how many would the full diff
# > pass?
# >
# > Your guess (double-click here to write it): ...

# %%
rows = ["claims success (%)", "of these, the full diff passes (%)"]
worth = {
    name: [table["own report"].mean(), table["full diff"][table["own report"] == 1].mean()]
    for name, table in tables.items()
}
(100 * pd.DataFrame(worth, index=rows)).round(1)

# %% [markdown]
# The agent that claims more is the one whose claim is worth less. An agent's report is evidence
# to be checked, and no more.
#
# *A good place for a break.*

# %% [markdown]
# ## The same numbers without chance
#
# So far we counted. These agents are simple enough to compute the scores exactly. Let
#
# - $e$ be the probability that an edit is right, and $m$ the number of edits;
# - $w$ the probability that an action brings an unintended write;
# - $c$ the probability of claiming success with work unfinished.

# %%
e, w, c = AGGRESSIVE.edit, AGGRESSIVE.write, AGGRESSIVE.claim_unfinished
m = len(SCENARIO.edits)

# %% [markdown]
# **Partial credit** is $e$: each required change counts the same, and each is made with probability
# $e$.
#
# **Targets only** is $e^m$: the edits are independent, so the probability that all $m$ are right is $e$
# times itself, $m$ times.
#
# **Own report** is $e^m + (1 - e^m)\,c$: the agent claims what it finished, and of the rest a share
# $c$.

# %%
finished = e**m
claimed = finished + (1 - finished) * c
print(f"partial credit {e:.1%}, targets only {finished:.1%}, own report {claimed:.1%}")

# %% [markdown]
# **Full diff** is $e^m\,G(w)$. Here $G(w)$ is the probability that no action of an episode brings an
# unintended write. With $N$ actions it is $(1-w)^N$: one action stays clean with probability $1-w$, and
# $N$ of them must. Our agents skip the last look-up half of the time, so $N$ is one of two numbers, and
# $G$ is the mean of both.

# %%
clean = np.mean([(1 - w) ** N for N in SCENARIO.actions])
print(f"actions {SCENARIO.actions}, clean {clean:.1%}, full diff {finished * clean:.1%}")

# %% [markdown]
# `expected` holds the same four lines, for either agent. Does the simulation agree?

# %%
from evalkit.simulate.expected import expected

rows = []
for agent in (CAREFUL, AGGRESSIVE):
    exact = expected(agent.edit, agent.write, agent.claim_unfinished, m, SCENARIO.actions)
    for name in GRADERS:
        formula, mean = float(exact[name]), board.loc[name, agent.name]
        off = (mean - formula) / board.loc[name, f"{agent.name} SE"]
        rows.append((agent.name, name, 100 * formula, 100 * mean, off))
columns = ["agent", "grader", "formula (%)", "simulated (%)", "off by (SE)"]
pd.DataFrame(rows, columns=columns).round(1)


# %% [markdown]
# Here every mean lies within two standard errors of its formula. (In one such run of five, one does not.)
# The four rows of an agent lean the same way, because they come from the same episodes. From here on we may use the formulas.

# %% [markdown]
# ## Where the ranking flips
#
# Under the full diff two agents are equal when
#
# $$ e^m\, G(w) = e'^m\, G(w') . $$
#
# The primes mark the rival. Solved for the edit accuracy that an agent needs to make up for its writes:
#
# $$ e = e' \left( \frac{G(w')}{G(w)} \right)^{1/m} . $$
#
# In words: compare how often the two leave the rest alone, and take the $m$-th root, because accuracy
# counts $m$ times.


# %%
def G(w):
    return np.mean([(1 - w) ** N for N in SCENARIO.actions])


needed = CAREFUL.edit * (G(CAREFUL.write) / G(AGGRESSIVE.write)) ** (1 / m)
print(f"has {AGGRESSIVE.edit:.1%} of edits right, needs {needed:.1%}")

# %% [markdown]
# The other way round, for the write rate, there is no neat formula with two numbers of actions.
# `break_even_write` searches for it.
#
# > **Predict.** How many unintended writes per action may Aggressive make before it falls behind?
# > And an agent that gets every edit right?
# >
# > Your guess (double-click here to write it): ...

# %%
from evalkit.simulate.expected import break_even_write

for name, edit in (("Aggressive", AGGRESSIVE.edit), ("a perfect editor", 1.0)):
    flip = break_even_write(edit, CAREFUL.edit, CAREFUL.write, m, SCENARIO.actions)
    print(f"{name}: {flip:.1%} of actions")

# %%
figure = new_figure()
plots.draw_boundary(figure)
flip = break_even_write(AGGRESSIVE.edit, CAREFUL.edit, CAREFUL.write, m, SCENARIO.actions)
captioned(
    figure,
    caption=f"With {AGGRESSIVE.edit:.0%} of its edits right, Aggressive leads on the full diff up to "
    f"{flip:.1%} unintended writes per action. It makes {AGGRESSIVE.write:.0%}.",
    alt="A rising line through Careful's point. Aggressive's point lies below it, on Careful's side.",
)

# %% [markdown]
# The line goes through Careful itself: an agent with Careful's rates is Careful's equal. It ends where
# 100% of the edits must be right, at 9.2% of actions, the perfect editor's number above. Further right,
# no accuracy is enough.
#
# The other three scoreboards have no such line. To them it makes no difference how far to the right an
# agent stands.

# %% [markdown]
# ## Panel: move Aggressive
#
# Careful stays as it is. The controls set the three rates of Aggressive. The scores are the formulas'.
#
# **Think about:** one control changes the upper picture and never the lower one. Which is it, and what
# does that say of a leaderboard that rests on it?

# %%
plots.flip_panel()

# %% [markdown]
# ## What these numbers rest on
#
# - The two **claim rates are our choice**. We picked round numbers that put Aggressive as far ahead on
#   its own report as in the source note. The order of the agents on the
#   full diff does not depend on them. The **number of actions** is chosen so that both leave as much
#   collateral as there. Chapter 14 sets our numbers beside the published ones.
# - **Every action carries the same risk**, and each edit is right or wrong by itself. Real mistakes come
#   in clusters: one misunderstanding spoils the rest. Chapter 11 drops both assumptions.
# - **One task.** Real suites have many, easy and hard. Chapter 08 is about them.
# - **Damage counts alike**, small or large. What it costs is for you to say.
#
# The exact points are those of these two agents. That a grader ranks only by what it looks at holds
# for yours as well.

# %%
world.close()

# %% [markdown]
# ## Exercises

# %%
from evalkit.course.exercises import check, show

show("01.a")


# %%
def four_scores(claim, met, required, collateral):
    return ...


check("01.a", four_scores)

# %%
show("01.b")


# %%
def lead_and_error(first, second):
    return ...


check("01.b", lead_and_error)

# %%
show("01.c")


# %%
def episodes_needed(p, q):
    return ...


check("01.c", episodes_needed)

# %%
show("01.d")


# %%
def flip_write_rate(edit, rival_edit, rival_write, edits, actions):
    return ...


check("01.d", flip_write_rate)

# %%
show("01.e")

# %%
right_words = ...
check("01.e", right_words)

# %% [markdown]
# ## Key points
#
# - A grader ranks by what it looks at. What it does not look at, it cannot hold against anyone.
# - Own report, partial credit and targets only never look beyond the task's own records. The full diff
#   does, and it can turn a ranking round.
# - A lead needs its standard error. More episodes cure bad luck, and never a wrong question.
# - Report partial credit beside targets only and the full diff, not in their place (chapter 03).
# - Accuracy buys off unintended writes up to a point, and that point can be computed.
#
# **Next:** chapter 02 looks at what even the full diff cannot see,
# and chapter 04 builds the full diff from ten lines.
#
# **Sources.** Goal-state comparison: Yao et al., τ-bench (2024). Unexpected changes as *collateral
# damage*: Trivedi et al., AppWorld (2024). Checkpoints beside full completion: Xu et al.,
# TheAgentCompany (2024). Standard errors for evaluations: Miller, *Adding Error Bars to Evals* (2024).
