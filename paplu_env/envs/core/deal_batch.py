"""Many deals side by side, each seen from its learner's seat: the core that every environment is a face of.

A deal's seed is one raw output of its environment's generator, and everything else about the deal (the
cards, the learner's seat, the opponents and their chance) follows from that seed. So equal seeds give
equal deals and rewards whatever the face, the number of games side by side, or of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypedDict

import numpy as np
import numpy.typing as npt

from paplu_env import encoding as encodings
from paplu_env._jit import run_slices
from paplu_env.bots.policy import Policy, check_answers
from paplu_env.bots.published.agents import RuleAgent
from paplu_env.engine import format_position, why_illegal
from paplu_env.engine.actions import NUM_ACTIONS, format_action
from paplu_env.engine.state import OVER, TRUNCATED, empty_states, empty_views
from paplu_env.envs.core.copies import Copies
from paplu_env.envs.core.kernels import (
    ANY_SEAT,
    EVERY_SEAT,
    NEXT_DEAL,
    NO_ACTION,
    OUTSIDE,
    first_illegal,
    play_rows,
)
from paplu_env.envs.core.opponents import SELF, Opponents, Pool, read_line_up
from paplu_env.envs.core.rewards import Reward
from paplu_env.envs.core.seeds import SeedStreams
from paplu_env.errors import IllegalAction, InvalidRules, PapluError
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import RuleSet, as_rules

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Observations = npt.NDArray[np.float32]
Rules = RuleSet | str | Mapping[str, Any]
Seat = int | Literal["random"]
WhenIllegal = Literal["forfeit", "raise"]

# Attributes of `Tables` that a row's future hangs on, all of them arrays with one entry a row.
_ROW_ARRAYS: Final = (
    "states",
    "views",
    "masks",
    "seats",
    "line_ups",
    "over",
    "phases",
    "movers",
    "endings",
    "winners",
    "returns",
    "forfeits",
    "skipped_deals",
    "skipped_points",
    "_deal_keys",
    "_first_potentials",
    "_potentials",
)


_NOWHERE: Final = np.empty(0, dtype=np.int64)


class TableOptions(TypedDict, total=False):
    """What environments of many deals hand to `Tables` as it is; the defaults stand there."""

    encoding: str  # what an observation is, see `paplu_env.encoding`
    reward: str  # one of `paplu_env.envs.REWARDS`
    seat: Seat  # the learner's, or "random", by each deal's seed; seat 0 has the first turn
    illegal_action: WhenIllegal  # "forfeit" ends the deal and costs ``wrong_declare_points``; "raise" refuses it
    threads: int  # threads that share the deals; results do not depend on it


def check_table_options(taker: str, options: Mapping[str, Any]) -> None:
    """Refuse an unknown keyword by the name of whom it was given to.

    Raises:
        TypeError: as Python raises it.
    """
    known = TableOptions.__annotations__
    for name in options:
        if name not in known:
            options_known = ", ".join(known)
            raise TypeError(f"{taker}() got an unexpected keyword argument {name!r}: the options are {options_known}")


class Tables:
    """``B`` deals, of which some are dealt anew and some played on at each call.

    Args:
        rules: the rule set of every deal, in any form that `as_rules` reads.
        opponents: who may sit at the other seats, of which each deal draws one, see `opponents.Pool`;
            "self": every seat is played from outside.
        seeds: where the deals' seeds come from.
        weights: how often each of the opponents is drawn, equally without.
        encoding, reward, seat, illegal_action, threads: see `TableOptions`; ``seat`` is unused with "self".

    Raises:
        PapluError: unknown rules, opponents, encoding or reward, or another argument that cannot be.
    """

    states: npt.NDArray[np.void]  # (B,), the engine's
    views: npt.NDArray[np.void]  # (B,), what each learner may know
    masks: Bools  # (B, A), what it may do; all False when its deal is over
    seats: Ints  # (B,), its seat; without a pool the seat to move, or that acted last
    line_ups: Ints  # (B,), number of its opponents in the pool
    over: Bools  # (B,), its deal is over
    phases: Ints  # (B,), phase of its deal; OVER also after a forfeit
    movers: Ints  # (B,), seat to move, NO_SEAT when its deal is over
    endings: Ints  # (B,), how its deal ended: the engine's codes, or FORFEIT
    winners: Ints  # (B,), seat that won, NO_SEAT without one
    returns: Ints  # (B, P), points of all seats; zeros while its deal is on
    forfeits: Ints  # (B,), the illegal action that ended its deal, NO_ACTION otherwise
    skipped_deals: Ints  # (B,), deals before this one that ended before its first decision
    skipped_points: Ints  # (B,), what these brought it, in points

    def __init__(
        self,
        batch: int,
        rules: Rules,
        opponents: Sequence[Opponents] | Literal["self"],
        *,
        seeds: SeedStreams | None = None,
        weights: Sequence[float] | None = None,
        encoding: str = "features-v1",
        reward: str = "points",
        seat: Seat = "random",
        illegal_action: WhenIllegal = "forfeit",
        threads: int = 1,
    ) -> None:
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise PapluError(f"num_envs={batch!r}: give a whole number from 1")
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise PapluError(f"threads={threads!r}: give a whole number from 1")
        if illegal_action not in ("forfeit", "raise"):
            raise PapluError(f"illegal_action={illegal_action!r}: choose forfeit or raise")
        self.batch = batch
        self.rules = as_rules(rules)
        self.encoding = encodings.by_name(encoding)
        self.num_features = self.encoding.num_features(self.rules)
        self.reward = Reward(reward, self.rules)
        self.illegal_action = illegal_action
        self.threads = threads
        self.seeds = SeedStreams(batch) if seeds is None else seeds
        self._learner = EVERY_SEAT if opponents == SELF else _read_seat(seat, self.rules)
        if opponents == SELF and self.reward.is_shaped:
            raise PapluError(f"reward={reward!r} is for one learner: with opponent='self' take points, scaled or win")
        self.states = empty_states(self.rules, batch)
        self.views = empty_views(self.rules, batch)
        self.masks = np.zeros((batch, NUM_ACTIONS), dtype=np.bool_)
        self.seats = np.zeros(batch, dtype=np.int64)
        self.line_ups = np.zeros(batch, dtype=np.int64)
        self.over = np.ones(batch, dtype=np.bool_)
        self.phases = np.full(batch, OVER, dtype=np.int64)
        self.movers = np.zeros(batch, dtype=np.int64)
        self.endings = np.zeros(batch, dtype=np.int64)
        self.winners = np.zeros(batch, dtype=np.int64)
        self.returns = np.zeros((batch, self.rules.num_players), dtype=np.int64)
        self.forfeits = np.full(batch, NO_ACTION, dtype=np.int64)
        self.skipped_deals = np.zeros(batch, dtype=np.int64)
        self.skipped_points = np.zeros(batch, dtype=np.int64)
        self._deal_keys = np.zeros(batch, dtype=np.uint64)
        self._first_potentials = np.zeros(batch)
        self._potentials = np.zeros(batch)  # since the first hand
        self._policies: list[Policy] = []  # those that are asked outside the kernel
        self._agents = np.zeros((1, 1), dtype=np.int64)  # (L, P-1), see play_rows
        self._numbers = np.zeros((1, 1), dtype=np.int64)  # (L, P-1), the policy's place in _policies
        self._bounds = np.ones(1)  # of the pool, see play_rows
        self._waiting = np.zeros(batch, dtype=np.int64)
        self._asked_views = empty_views(self.rules, batch)
        self._asked_masks = np.zeros((batch, NUM_ACTIONS), dtype=np.bool_)
        self._asked_keys = np.zeros(batch, dtype=np.uint64)
        self.mask_copies = Copies(self.masks.shape, self.masks.dtype)
        self._observations = Copies((batch, self.num_features), np.float32)
        self.pool: Pool | None = None
        if opponents != SELF:
            self.set_opponents(opponents, weights)

    def set_opponents(self, opponents: Sequence[Opponents], weights: Sequence[float] | None = None) -> None:
        """Take other opponents; each row meets them from its next deal on.

        Raises:
            PapluError: unknown opponents, or weights that do not fit; nothing has changed then.
        """
        if self._learner == EVERY_SEAT:
            raise PapluError("every seat is played from outside (opponent='self'): there are no opponents to change")
        line_ups = [read_line_up(opponent, self.rules) for opponent in opponents]
        if self.pool is None:
            self.pool = Pool(line_ups, weights)
        else:
            self.pool.set(line_ups, weights, in_use=self.line_ups)
        self._index_policies(self.pool)

    def _index_policies(self, pool: Pool) -> None:
        """Number the policies for kernels and for `_ask`."""
        line_ups = pool.line_ups
        self._bounds = pool.bounds
        self._policies = []
        shape = (len(line_ups), self.rules.num_players - 1)
        self._agents = np.full(shape, OUTSIDE, dtype=np.int64)
        self._numbers = np.zeros(shape, dtype=np.int64)
        numbers: dict[int, int] = {}
        for number, line_up in enumerate(line_ups):
            for place, policy in enumerate(line_up.policies):
                if isinstance(policy, RuleAgent):
                    self._agents[number, place] = policy.agent
                elif id(policy) not in numbers:
                    numbers[id(policy)] = len(self._policies)
                    self._policies.append(policy)
                self._numbers[number, place] = numbers.get(id(policy), 0)

    def start(self, rows: Ints) -> None:
        """Deal these rows anew and play on until their learners decide.

        Deals that end before the learner's first decision are settled, counted and replaced.

        Args:
            rows: ``(N,)`` rising.
        """
        self.advance(rows, np.full(len(rows), NEXT_DEAL))

    def advance(self, rows: Ints, actions: Ints) -> None:
        """Let the learners of these rows act, and play on until they decide again or their deals are over.

        Args:
            rows: ``(N,)`` rising.
            actions: ``(N,)`` of 0..A-1, or `NEXT_DEAL` in rows that start anew.

        Raises:
            IllegalAction: under ``illegal_action="raise"``; nothing has been played then.
        """
        if self.illegal_action == "raise":
            k = first_illegal(rows, actions, self.masks)
            if k >= 0:
                self._refuse(int(rows[k]), int(actions[k]))
        self.play(rows, actions, by_learners=True)
        if self.reward.is_shaped:
            started = rows[actions == NEXT_DEAL]
            self._first_potentials[started] = self.reward.potentials(self.views[started])
            self._potentials[started] = 0.0

    def play(self, rows: Ints, actions: Ints, by_learners: bool) -> None:
        """What `kernels.play_rows` does, and the policies and generators asked that it waits for."""
        while True:
            waits = self._play_slices(rows, actions, by_learners)
            if not waits.size:
                return
            waiting = self._waiting[waits]
            is_short = waiting < 0
            rows = np.where(is_short, ~waiting, waiting)
            actions = np.full(len(rows), NEXT_DEAL)
            self.seeds.refill(rows[is_short])
            if not is_short.all():
                actions[~is_short] = self._ask(rows[~is_short], waits[~is_short])
            by_learners = False

    def _play_slices(self, rows: Ints, actions: Ints, by_learners: bool) -> Ints:
        """Run the kernel over slices of the rows; returns the places where rows wait."""
        places: list[tuple[int, int]] = []

        def play(start: int, stop: int) -> None:
            end = play_rows(
                rows,
                start,
                stop,
                actions,
                by_learners,
                self._learner,
                self.rules.packed,
                distance_table(),
                self.seeds.blocks,
                self.seeds.used,
                self.seeds.policy_seeds,
                self.seeds.dealt,
                self._agents,
                self._bounds,
                self.states,
                self.views,
                self.masks,
                self.seats,
                self.line_ups,
                self._deal_keys,
                self.over,
                self.phases,
                self.movers,
                self.endings,
                self.winners,
                self.returns,
                self.forfeits,
                self.skipped_deals,
                self.skipped_points,
                self._waiting,
                self._asked_views,
                self._asked_masks,
                self._asked_keys,
            )
            if end > start:
                places.append((start, end))

        run_slices(play, len(rows), self.threads)
        if not places:
            return _NOWHERE
        return np.concatenate([np.arange(start, end) for start, end in sorted(places)])

    def _ask(self, rows: Ints, asked: Ints) -> Ints:
        """The answers of the policies to move in these rows, which see what stands at the places ``asked``."""
        movers = self.states["current_player"][rows].astype(np.int64)
        step = int(self.rules.packed["step"][0])  # from a seat to the next in play
        relative = (movers - self.seats[rows]) * step % self.rules.num_players - 1
        numbers = self._numbers[self.line_ups[rows], relative]
        answers = np.empty(len(rows), dtype=np.int64)
        for number in np.unique(numbers):
            chosen = np.flatnonzero(numbers == number)
            places = asked[chosen]
            policy = self._policies[number]
            # Indexing copies, so what a policy does to its arguments can't make an illegal answer legal.
            given = policy.act(self._asked_views[places], self._asked_masks[places], self._asked_keys[places])
            given = np.asarray(given)
            check_answers(policy.name, given, self._asked_views[places], self._asked_masks[places])
            answers[chosen] = given
        return answers

    def _refuse(self, i: int, action: int) -> None:
        where = f"environment {i}: " if self.batch > 1 else ""
        position = format_position(self.states, i, self.rules)
        raise IllegalAction(f"{where}{self.why_illegal(i, action)}; position: {position}")

    def rewards(self, rows: Ints) -> Floats:
        """``(N,)`` rewards of the learners' last actions; 0 in rows that have just been dealt. Ask once a turn."""
        rewards = np.zeros(len(rows))
        over = self.over[rows]
        if over.any():
            ended = rows[over]
            rewards[over] = self.reward.final(self.points(ended), self.winners[ended], self.seats[ended])
        if self.reward.is_shaped:
            potentials = self.reward.potentials(self.views[rows]) - self._first_potentials[rows]
            potentials[over & ~self.is_truncated(rows)] = 0.0
            rewards += potentials - self._potentials[rows]
            self._potentials[rows] = potentials
        return rewards

    def is_truncated(self, rows: Ints) -> Bools:
        """Which of these rows were cut at ``max_turns``."""
        cut: Bools = self.endings[rows] == TRUNCATED
        return cut

    def points(self, rows: Ints) -> Ints:
        """``(N,)`` points of the learners."""
        points: Ints = self.returns[rows, self.seats[rows]]
        return points

    def observe(self, rows: Ints | None = None, out: Observations | None = None) -> Observations:
        """``(N, F)`` observations of the learners in these rows, in all of them if not given."""
        views = self.views if rows is None else self.views[rows]
        if out is None:
            out = self._observations.take() if rows is None else np.empty((len(rows), self.num_features), np.float32)
        self.encoding.encode_rows(views, self.rules, out, self.threads)
        return out

    def why_illegal(self, i: int, action: int) -> str:
        """What is wrong with an action in row ``i``, in words that tell no hidden card."""
        return f"{format_action(action)} is not legal: {why_illegal(self.states, i, action, self.rules)}"

    def get_state(self) -> dict[str, Any]:
        """Copies of everything that the rows hold, by name, and the arguments that give it its meaning."""
        return {"arguments": self._arguments(), **{name: getattr(self, name).copy() for name in _ROW_ARRAYS}}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Put back what `get_state` gave.

        Raises:
            PapluError: the state is of tables with other arguments; nothing has changed then.
        """
        for name in _ROW_ARRAYS:
            held, given = getattr(self, name), state.get(name)
            if not isinstance(given, np.ndarray) or given.shape != held.shape or given.dtype != held.dtype:
                raise PapluError(f"{name!r} does not fit: the state was not taken from an environment like this one")
        theirs = state.get("arguments", {})
        for name, value in self._arguments().items():
            if theirs.get(name) != value:
                raise PapluError(
                    f"the state was taken with {name}={theirs.get(name)!r}, this environment has {name}={value!r}: "
                    "put it back where the arguments are equal"
                )
        for name in _ROW_ARRAYS:
            getattr(self, name)[:] = state[name]

    def _arguments(self) -> dict[str, Any]:
        """What gives the rows their meaning; opponents can be told apart by name only."""
        return {
            "rules": str(self.rules),
            "opponent": [line_up.name for line_up in self.pool.line_ups] if self.pool else SELF,
            "seat": "random" if self._learner == ANY_SEAT else SELF if self._learner == EVERY_SEAT else self._learner,
            "encoding": self.encoding.name,
            "reward": self.reward.name,
            "illegal_action": self.illegal_action,
        }


def read_actions(actions: Any, batch: int) -> Ints:
    """Actions as ``(batch,)`` int64.

    Raises:
        PapluError: they are no whole numbers, or not as many.
    """
    try:
        given = np.asarray(actions)
    except ValueError:
        raise PapluError(f"actions of unequal lengths: give {batch} whole numbers") from None
    if given.shape != (batch,) or given.dtype.kind not in "iu":
        raise PapluError(f"actions of shape {given.shape} and dtype {given.dtype}: give {batch} whole numbers")
    return given.astype(np.int64, copy=False)


def check_range(actions: Ints, ignored: Bools | None = None) -> None:
    """Refuse numbers that are no actions, naming the first one's environment.

    Args:
        ignored: ``(B,)``, environments whose actions mean nothing.

    Raises:
        PapluError: an action outside 0..A-1.
    """
    is_wrong = (actions < 0) | (actions >= NUM_ACTIONS)
    if ignored is not None:
        is_wrong &= ~ignored
    if is_wrong.any():
        first = int(is_wrong.argmax())
        raise PapluError(f"environment {first}: action {actions[first]}: actions are 0..{NUM_ACTIONS - 1}")


def _read_seat(seat: Seat, rules: RuleSet) -> int:
    """The learner's seat as kernels take it."""
    if seat == "random":
        return ANY_SEAT
    if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < rules.num_players:
        raise InvalidRules(f"seat={seat!r}: give 0..{rules.num_players - 1} or 'random'")
    return seat
