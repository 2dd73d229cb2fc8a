"""The figures and panels of the chapters, one file a chapter."""
