"""What only the notebooks use: exercises, panels, figures, the numbers of the note.

What stands in a chapter, in this order:

1. its title, one question, three things the reader will be able to do, minutes, what it needs;
2. the guarded first code cell, the same in every chapter;
3. a concrete case, then the idea, then the formula with each symbol said in words;
4. before each result a **Predict** with a place to write, after it the reading;
5. each result as a plain table, and as a figure from ``plots/chapter_NN.py`` whose caption says it;
6. a panel from the same file, with one question to think about;
7. three or more exercises from ``exercises/chapter_NN.py``, each ``show(id)`` then stub and check;
8. three to five key points, where next, sources with their year.

Numbers of the note go into ``numbers/``. ``python -m evalkit.course.notebooks NN_name`` takes the
script to its executed notebook.
"""
