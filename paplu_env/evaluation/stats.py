"""Means and 95 % intervals over clusters: a deal and its rotations are one observation, not several."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.errors import PapluError

Interval = tuple[float, float]

_NORMAL: Final = 1.959963984540054  # the 97.5 % point of the normal distribution
# The 97.5 % points of Student's t for 1..8 degrees of freedom, where the expansion below is too coarse.
_FEW: Final = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060)


def student_t(degrees: int) -> float:
    """The 97.5 % point of Student's t; the expansion in 1/degrees is within 0.0005 of it.

    Raises:
        PapluError: no degree of freedom, so no spread is known.

    >>> round(student_t(10), 3), round(student_t(100_000), 3)
    (2.228, 1.96)
    """
    if degrees < 1:
        raise PapluError("an interval needs at least two deals: one has no spread")
    if degrees <= len(_FEW):
        return _FEW[degrees - 1]
    z = _NORMAL
    terms = (
        z,
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
    )
    return float(sum(term / degrees**power for power, term in enumerate(terms)))


def standard_error(clusters: npt.NDArray[np.float64]) -> float:
    """Standard error of the mean of independent clusters, from their spread; ``(n,)`` with n ≥ 2."""
    return float(np.std(clusters, ddof=1) / math.sqrt(len(clusters)))


def mean_interval(clusters: npt.NDArray[np.float64]) -> Interval:
    """95 % interval of the mean of independent clusters, ``(n,)`` cluster means with n ≥ 2."""
    mean = float(np.mean(clusters))
    half = student_t(len(clusters) - 1) * standard_error(clusters)
    return mean - half, mean + half


def share_interval(clusters: npt.NDArray[np.float64]) -> Interval:
    """95 % interval of a share, from each cluster's own share in [0, 1].

    Wilson's interval for the number of independent games that would be as uncertain as these clusters
    are. In the middle it is the usual mean ± t standard errors; near 0 and 1 it stays inside, and a share
    that every cluster repeats, such as 0 or 1, isn't taken for certain.
    """
    deals = len(clusters)
    share = float(np.mean(clusters))
    error = standard_error(clusters)
    t = student_t(deals - 1)
    if np.ptp(clusters) == 0.0:
        # Deals of another kind may just not have come up. With t² further deals that are all lost, or all
        # won, this is Wilson's interval where the share is 0 or 1, and the same allowance in between.
        return deals * share / (deals + t * t), (deals * share + t * t) / (deals + t * t)
    games = share * (1 - share) / error**2
    shrink = 1 + t * t / games
    middle = (share + t * t / (2 * games)) / shrink
    half = t * math.sqrt(share * (1 - share) / games + (t / (2 * games)) ** 2) / shrink
    # Rounding must not push an end that is exactly 0 or 1, or the share itself, outside.
    return max(0.0, min(share, middle - half)), min(1.0, max(share, middle + half))
