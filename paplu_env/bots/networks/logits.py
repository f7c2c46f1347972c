"""From a network's logits to legal actions: the likeliest, or one drawn by a key."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots.policy import Actions, Keys, Masks

_FRACTION_BITS: Final = 53  # of a float64: as many top bits of a key make a number in [0, 1)


def choose(logits: npt.NDArray[np.floating[Any]], masks: Masks, keys: Keys | None = None) -> Actions:
    """One legal action per row of logits ``(B, A)``, whatever the logits of illegal ones say.

    Args:
        logits: ``(B, A)`` floats.
        masks: ``(B, A)`` bool, at least one True in each row.
        keys: ``(B,)`` uint64 to draw from the softmax of the legal logits, one number per key; None for
            the likeliest legal action, the lowest id of equals.

    Returns:
        ``(B,)`` int64.
    """
    legal = np.where(masks, logits, -np.inf).astype(np.float64)
    if keys is None:
        likeliest: Actions = legal.argmax(axis=1)
        return likeliest
    weights = np.exp(legal - legal.max(axis=1, keepdims=True))
    sums = weights.cumsum(axis=1)
    total = sums[:, -1:]
    unit = (keys >> np.uint64(64 - _FRACTION_BITS)).astype(np.float64)[:, None] * 2.0**-_FRACTION_BITS
    # Rounding in the product must not lift the target to the total, which no sum exceeds.
    target = np.minimum(unit * total, np.nextafter(total, 0.0))
    # The first sum above the target rose there, so its weight isn't 0: an illegal action is never drawn.
    drawn: Actions = (sums > target).argmax(axis=1)
    return drawn
