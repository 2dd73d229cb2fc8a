"""Fuzzing: whatever a file or a state holds, a documented error or an answer; see `__main__`."""
