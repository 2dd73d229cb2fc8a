"""What only the notebooks use: exercises, panels, figures, the numbers of the note."""
