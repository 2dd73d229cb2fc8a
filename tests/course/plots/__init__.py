"""Tests of the plots, and what they share."""

from matplotlib.patches import Patch
from matplotlib.transforms import Bbox


def extent(patch: Patch) -> Bbox:
    """Return where a shaded span lies; it is a rectangle or, in older matplotlib, a polygon."""
    return patch.get_patch_transform().transform_path(patch.get_path()).get_extents()
