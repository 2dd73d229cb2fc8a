"""One file a chapter: prompts, hints, solutions, checks and known wrong answers."""
