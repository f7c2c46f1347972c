"""`expert`: a network inside a search, which compares the moves that the network finds likely."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots.networks.onnx import OnnxPolicy
from paplu_env.bots.search.agent import THRESHOLD, SearchAgent
from paplu_env.bots.search.improve import two_seat_rules
from paplu_env.bots.search.kernels import MAX_CANDIDATES
from paplu_env.bots.search.leaf_value import has_fitted_value
from paplu_env.engine.actions import DECLARE_BASE
from paplu_env.engine.state import Views
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet

# More worlds and turns than `search` has: its moves are better to begin with, so smaller gains have to be seen, and a
# hundred milliseconds a turn allow it.
DEFAULT_WORLDS: Final = 1024
_TURNS: Final = 5  # turns played on before the value is asked, where there is one
_LEAST_PROBABILITY: Final = 1e-4  # of a candidate, by the network


class ExpertAgent(SearchAgent):
    """`search` around a network: its move is left where likely worlds say, with some certainty, that another is better.

    The network proposes: its likeliest actions are the candidates. Likely worlds, the play after a candidate, and the
    value that judges what then stands are those of `search`.

    Args:
        path: an exported network, ``NAME.onnx``.
        rules: of a table for two, among those that the file was made for or kindred to them; None takes its first.
        worlds: worlds per decision, at most: clear cases stop earlier. The answer is a function of the view, the
            key and this number.
        candidates: likeliest actions that are compared, 2..6.
        threshold: standard errors by which a gain must exceed zero.
        milliseconds: if given, the search goes on for this time instead, still in at most ``worlds``; not
            reproducible.

    Raises:
        InvalidFile: a missing, truncated, foreign or altered file.
        PolicyMismatch: rules other than the file's own.
        PapluError: numbers out of range, a table of more seats, or onnxruntime isn't installed.
    """

    def __init__(
        self,
        path: str | Path,
        rules: RuleSet | str | None = None,
        worlds: int = DEFAULT_WORLDS,
        candidates: int = MAX_CANDIDATES,
        threshold: float = THRESHOLD,
        milliseconds: float | None = None,
        name: str = "expert",
    ) -> None:
        if not 2 <= candidates <= MAX_CANDIDATES:
            raise PapluError(f"candidates={candidates}: a search compares 2..{MAX_CANDIDATES}")
        self.network = OnnxPolicy(path, rules)
        rules = two_seat_rules(self.network.rules, name)
        turns = _TURNS if has_fitted_value(rules) else None
        super().__init__(rules, worlds, milliseconds, self.network, threshold, turns, name)
        self.candidates = candidates

    def _candidates(
        self, views: Views, j: int, mask: npt.NDArray[np.bool_], base: int
    ) -> tuple[npt.NDArray[np.int64], int]:
        actions = np.zeros(MAX_CANDIDATES, dtype=np.int64)
        actions[0] = base
        if base >= DECLARE_BASE:
            return actions, 1
        obs, masks = self.network.seen(views[j : j + 1], mask[None])
        logits = self.network.logits(obs, masks)[0]
        likely = np.argsort(-logits, kind="stable")[: self.candidates]
        others = likely[(logits[likely] - logits[base] > np.log(_LEAST_PROBABILITY)) & (likely != base)]
        count = min(1 + len(others), self.candidates)
        actions[1:count] = others[: count - 1]
        return actions, count
