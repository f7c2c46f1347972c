"""`expert`: a network inside a search. It proposes moves and plays both seats on; a value judges what stands then."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env import encoding as encodings
from paplu_env import engine
from paplu_env.bots.comparing import ComparingPolicy, Comparison, add_points, two_seat_rules
from paplu_env.bots.likely_worlds import likely_worlds_kernel
from paplu_env.bots.logits import choose
from paplu_env.bots.onnx import OnnxPolicy, open_session
from paplu_env.bots.rollout import ROOM_ROWS
from paplu_env.bots.search_kernels import BEHIND, MAX_CANDIDATES, NUM_TALLIES, is_settled
from paplu_env.bots.search_value import has_fitted_value, shipped_value, values_kernel
from paplu_env.cards import NUM_FACES
from paplu_env.engine.actions import DECLARE_BASE
from paplu_env.engine.state import DRAW, OVER, States, Views, empty_states
from paplu_env.errors import InvalidFile, InvalidHand, PapluError
from paplu_env.melds.distance_table import distance_table
from paplu_env.rules import RuleSet

VALUE_FORMAT: Final = "paplu-value-1"  # the metadata key "format" of every critic's file, and its version
VALUE_INPUTS: Final = ("obs", "hidden")  # (N, F) and (N, H) float32
VALUE_OUTPUT: Final = "value"  # (N,) float32, of the seat that is to decide, as a share of the most points

DEFAULT_WORLDS: Final = 128
_CANDIDATES: Final = 6
_THRESHOLD: Final = 1.0  # standard errors by which a gain must exceed zero
_LEAST_PROBABILITY: Final = 1e-4  # of a candidate, by the network
_CHUNK: Final = 16  # worlds played side by side, after which clear cases stop


class ExpertAgent(ComparingPolicy):
    """Leaves its network's move where the likely worlds say, with some certainty, that another is better.

    In each world the likeliest actions are tried, and the network plays both seats on until it is to draw again.
    There its critic, which sees the hidden cards of the world, says what the deal will bring. Where `search` has a
    value for the table, the mean of both does: the critic knows how the network plays, but takes the order of the
    stock into account, which is luck; the value does neither, and their errors differ.

    Args:
        path: an exported network, ``NAME.onnx``, beside its critic, ``NAME.value.onnx``.
        rules: of a table for two, among those that the file was made for; None takes its first.
        worlds: worlds a decision, at most: clear cases stop earlier. The answer is a function of the view, the key
            and this number.
        candidates: likeliest actions that are compared, 2..6.
        threshold: standard errors by which a gain must exceed zero.
        milliseconds: if given, goes on for so long instead, still at most ``worlds``; not reproducible.

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
        candidates: int = _CANDIDATES,
        threshold: float = _THRESHOLD,
        milliseconds: float | None = None,
        name: str = "expert",
    ) -> None:
        if not 2 <= candidates <= MAX_CANDIDATES:
            raise PapluError(f"candidates={candidates}: a search compares 2..{MAX_CANDIDATES}")
        self.network = OnnxPolicy(path, rules)
        super().__init__(name, two_seat_rules(self.network.rules, name), self.network, threshold, worlds, milliseconds)
        self.critic = Critic(value_path(Path(path)), self.network)
        self.candidates = candidates

    def _compare(self, views: Views, j: int, mask: npt.NDArray[np.bool_], key: np.uint64, base: int) -> Comparison:
        view = views[j : j + 1]
        actions = np.array([base], dtype=np.int64) if base >= DECLARE_BASE else self._candidates(view, mask, base)
        tally = np.zeros((NUM_TALLIES, MAX_CANDIDATES), dtype=np.float64)
        for first, last in self._portions(_CHUNK) if len(actions) > 1 else ():
            worlds = self._worlds(view, key, first, last)
            tried = np.flatnonzero(tally[BEHIND, : len(actions)] == 0)
            add_points(tally, tried, self._points(worlds, actions[tried], int(view["seat"][0])))
            if is_settled(tally, len(actions)):
                break
        return self._comparison(actions, tally)

    def _candidates(self, view: Views, mask: npt.NDArray[np.bool_], base: int) -> npt.NDArray[np.int64]:
        """The likeliest actions, the base's move first."""
        logits = self.network.logits(self.network.encoding.encode(view, self.rules), mask[None])[0]
        order = np.argsort(-logits, kind="stable")[: self.candidates]
        likely = order[logits[order] - logits[base] > np.log(_LEAST_PROBABILITY)]
        actions: npt.NDArray[np.int64] = np.concatenate([[base], likely[likely != base]]).astype(np.int64)
        return actions

    def _worlds(self, view: Views, key: np.uint64, first: int, last: int) -> States:
        states = empty_states(self.rules, last - first)
        room = np.empty((ROOM_ROWS, NUM_FACES), dtype=np.uint8)
        if not likely_worlds_kernel(view, 0, key, first, self.rules.packed, distance_table(), states, room):
            raise InvalidHand(f"a view whose cards do not add up to the pack of {self.rules}")
        return states

    def _points(self, worlds: States, actions: npt.NDArray[np.int64], me: int) -> npt.NDArray[np.float64]:
        """Points that each action brings a seat in each world, ``(W, C)``."""
        states = np.repeat(worlds, len(actions))
        engine.apply_actions(states, np.tile(actions, len(worlds)), self.rules)
        points = np.zeros(len(states))
        rows = np.arange(len(states))  # of those under way
        while len(rows):
            under_way = states[rows]
            is_over = under_way["phase"] == OVER
            points[rows[is_over]] = under_way["returns"][is_over, me]
            is_due = (under_way["phase"] == DRAW) & (under_way["current_player"] == me)
            if is_due.any():
                points[rows[is_due]] = self._judged(under_way[is_due], me)
            rows = rows[~(is_over | is_due)]
            if len(rows):
                states[rows] = self._played_on(states[rows])
        return points.reshape(len(worlds), -1)

    def _judged(self, states: States, me: int) -> npt.NDArray[np.float64]:
        """Points ``(B,)`` that deals will bring to a seat that is to draw."""
        points = self.critic.points(states, me)
        if not has_fitted_value(self.rules):
            return points
        values = np.empty(len(states))
        values_kernel(states, self.rules.packed, distance_table(), shipped_value(), values)
        return (points + values) / 2

    def _played_on(self, states: States) -> States:
        """The states after one action of whoever is to act, as the network would."""
        views = engine.player_views(states, states["current_player"].astype(np.int64))
        masks = engine.legal_action_masks(states, self.rules)
        logits = self.network.logits(self.network.encoding.encode(views, self.rules), masks)
        engine.apply_actions(states, choose(logits, masks, None), self.rules)
        return states


class Critic:
    """A network that says what a deal will bring to a seat, all cards seen.

    Args:
        path: ``NAME.value.onnx``.
        policy: whose critic it is.

    Raises:
        InvalidFile: a missing, truncated or foreign file, or the critic of another kind of network.
    """

    def __init__(self, path: Path, policy: OnnxPolicy) -> None:
        self.rules, self.encoding = policy.rules, policy.encoding
        self.session: Any = open_session(path)
        about = self.session.get_modelmeta().custom_metadata_map
        if about.get("format") != VALUE_FORMAT or about.get("encoding") != self.encoding.name:
            raise InvalidFile(
                f"{path}: is no critic of {policy.name}: its format is {about.get('format')!r}, not {VALUE_FORMAT!r}, "
                f"or its encoding {about.get('encoding')!r}, not {self.encoding.name!r}"
            )
        self.layout = encodings.hidden_layout(about["hidden"])
        shapes = {node.name: node.shape[1:] for node in self.session.get_inputs()}
        sizes = (self.encoding.num_features(self.rules), self.layout.num_features(self.rules))
        if shapes != {name: [size] for name, size in zip(VALUE_INPUTS, sizes, strict=True)}:
            raise InvalidFile(f"{path}: its inputs are {shapes}, a table of {self.rules} gives {sizes}")

    def points(self, states: States, seat: int) -> npt.NDArray[np.float64]:
        """Points ``(B,)`` that the deals will bring to a seat, which is to decide."""
        seats = np.full(len(states), seat)
        obs = self.encoding.encode(engine.player_views(states, seats), self.rules)
        hidden = self.layout.encode(states, seats, self.rules)
        values = self.session.run([VALUE_OUTPUT], dict(zip(VALUE_INPUTS, (obs, hidden), strict=True)))[0]
        points: npt.NDArray[np.float64] = values.reshape(-1).astype(np.float64) * self.rules.max_points
        return points


def value_path(path: Path) -> Path:
    """Where the critic of a policy file lies: ``NAME.value.onnx``."""
    return path.with_name(f"{path.stem}.value.onnx")
