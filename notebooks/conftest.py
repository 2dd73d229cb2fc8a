"""What is for people is off where outputs are compared: progress bars, and what was done before."""

import os

os.environ["TQDM_DISABLE"] = "1"
os.environ["EVALKIT_PROGRESS"] = "0"
