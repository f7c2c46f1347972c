"""Many deals side by side, each seen from its learner's seat: the core that every environment is a face of.

A deal's seed is one raw output of its environment's generator, and everything else about the deal (the
cards, the learner's seat, the opponents and their chance) follows from that seed. So equal seeds give
equal deals and rewards whatever the face, the number of games side by side, or of threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from paplu_env import encoding as encodings
from paplu_env._jit import run_slices
from paplu_env.bots.policy import Policy, check_answers
from paplu_env.bots.published.agents import RuleAgent
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.state import OVER, TRUNCATED, empty_states, empty_views
from paplu_env.envs.core.arguments import Bools, Ints, Rules
from paplu_env.envs.core.copies import Copies
from paplu_env.envs.core.kernels import (
    ANY_SEAT,
    EVERY_SEAT,
    NEXT_DEAL,
    NO_ACTION,
    OUTSIDE,
    Arrays,
    Asked,
    Dealt,
    Shown,
    Sources,
    first_illegal,
    play_rows,
)
from paplu_env.envs.core.learner_seat import (
    Seat,
    WhenIllegal,
    check_illegal_action,
    explain_illegal,
    place_in_line_up,
    read_seat,
    refuse,
)
from paplu_env.envs.core.opponents import SELF, Opponents, Pool, read_line_up
from paplu_env.envs.core.rewards import Reward, check_for_self_play
from paplu_env.envs.core.saved import check_arguments
from paplu_env.envs.core.seeds import SeedStreams
from paplu_env.errors import PapluError
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import as_rules

Floats = npt.NDArray[np.float64]
Observations = npt.NDArray[np.float32]

_NOWHERE: Final = np.empty(0, dtype=np.int64)


class Potentials(NamedTuple):
    """What shaped rewards count from, see `rewards`."""

    first_potentials: Floats  # (B,), of the hand at the deal's first decision
    potentials: Floats  # (B,), of the hand at the last decision, counted from the first one


class DealBatch:
    """``B`` deals, of which some are dealt anew and some played on at each call.

    ``dealt``, ``shown`` and ``potentials`` hold everything that a row's future hangs on, besides its seeds.

    Args:
        num_deals: from 1.
        rules: the rule set of every deal, in any form that `as_rules` reads.
        opponents: who may sit at the other seats, of which each deal draws one, see `opponents.Pool`;
            "self": every seat is played from outside.
        seeds: where the deals' seeds come from; generators seeded by the system if not given.
        weights: how often each of the opponents is drawn, equally if not given.
        encoding, reward, seat, illegal_action, threads: see `BatchOptions`; ``seat`` is unused with "self".

    Raises:
        InvalidRules: unknown rules, or a seat that they do not have.
        PapluError: unknown opponents, encoding or reward, or another argument that cannot be.
    """

    dealt: Dealt
    shown: Shown
    potentials: Potentials

    def __init__(
        self,
        num_deals: int,
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
        if isinstance(num_deals, bool) or not isinstance(num_deals, int) or num_deals < 1:
            raise PapluError(f"num_envs={num_deals!r}: give a whole number from 1")
        if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
            raise PapluError(f"threads={threads!r}: give a whole number from 1")
        check_illegal_action(illegal_action)
        self.num_deals = num_deals
        self.rules = as_rules(rules)
        self.encoding = encodings.by_name(encoding)
        self.num_features = self.encoding.num_features(self.rules)
        self.reward = Reward(reward, self.rules)
        self.illegal_action = illegal_action
        self.threads = threads
        self.seeds = SeedStreams(num_deals) if seeds is None else seeds
        self._learner = EVERY_SEAT if opponents == SELF else read_seat(seat, self.rules)
        if opponents == SELF:
            check_for_self_play(reward, self.reward)
        self.dealt = Dealt(
            states=empty_states(self.rules, num_deals),
            seats=np.zeros(num_deals, dtype=np.int64),
            line_ups=np.zeros(num_deals, dtype=np.int64),
            deal_keys=np.zeros(num_deals, dtype=np.uint64),
        )
        self.shown = Shown(
            views=empty_views(self.rules, num_deals),
            masks=np.zeros((num_deals, NUM_ACTIONS), dtype=np.bool_),
            over=np.ones(num_deals, dtype=np.bool_),
            phases=np.full(num_deals, OVER, dtype=np.int64),
            movers=np.zeros(num_deals, dtype=np.int64),
            endings=np.zeros(num_deals, dtype=np.int64),
            winners=np.zeros(num_deals, dtype=np.int64),
            returns=np.zeros((num_deals, self.rules.num_players), dtype=np.int64),
            forfeits=np.full(num_deals, NO_ACTION, dtype=np.int64),
            skipped_deals=np.zeros(num_deals, dtype=np.int64),
            skipped_points=np.zeros(num_deals, dtype=np.int64),
        )
        self.potentials = Potentials(np.zeros(num_deals), np.zeros(num_deals))
        self._asked = Asked(
            waiting=np.zeros(num_deals, dtype=np.int64),
            views=empty_views(self.rules, num_deals),
            masks=np.zeros((num_deals, NUM_ACTIONS), dtype=np.bool_),
            keys=np.zeros(num_deals, dtype=np.uint64),
        )
        self._policies: list[Policy] = []  # those that are asked outside the kernel
        self._numbers = np.zeros((1, 1), dtype=np.int64)  # (L, P-1), the policy's place in _policies
        self._draw_from(agents=np.zeros((1, 1), dtype=np.int64), bounds=np.ones(1))
        self.mask_copies = Copies(self.shown.masks.shape, self.shown.masks.dtype)
        self._observations = Copies((num_deals, self.num_features), np.float32)
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
            self.pool.set(line_ups, weights, in_use=self.dealt.line_ups)
        self._index_policies(self.pool)

    def _index_policies(self, pool: Pool) -> None:
        """Number the policies for kernels and for `_ask`."""
        line_ups = pool.line_ups
        self._policies = []
        shape = (len(line_ups), self.rules.num_players - 1)
        agents = np.full(shape, OUTSIDE, dtype=np.int64)
        self._numbers = np.zeros(shape, dtype=np.int64)
        numbers: dict[int, int] = {}
        for number, line_up in enumerate(line_ups):
            for place, policy in enumerate(line_up.policies):
                if isinstance(policy, RuleAgent):
                    agents[number, place] = policy.agent
                elif id(policy) not in numbers:
                    numbers[id(policy)] = len(self._policies)
                    self._policies.append(policy)
                self._numbers[number, place] = numbers.get(id(policy), 0)
        self._draw_from(agents, pool.bounds)

    def _draw_from(self, agents: Ints, bounds: Floats) -> None:
        """Set what later deals are drawn from, see `kernels.Sources`."""
        sources = Sources(
            self.seeds.blocks, self.seeds.used, self.seeds.policy_seeds, self.seeds.num_dealt, agents, bounds
        )
        self._arrays: Arrays = (tuple(sources), tuple(self.dealt), tuple(self.shown), tuple(self._asked))

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
            k = first_illegal(rows, actions, self.shown.masks)
            if k >= 0:
                i = int(rows[k])
                where = f"environment {i}: " if self.num_deals > 1 else ""
                refuse(self.dealt.states, i, int(actions[k]), self.rules, where)
        self.play(rows, actions, by_learners=True)
        if self.reward.is_shaped:
            started = rows[actions == NEXT_DEAL]
            self.potentials.first_potentials[started] = self.reward.potentials(self.shown.views[started])
            self.potentials.potentials[started] = 0.0

    def play(self, rows: Ints, actions: Ints, by_learners: bool) -> None:
        """What `kernels.play_rows` does, and the policies and generators asked that it waits for."""
        while True:
            waits = self._play_slices(rows, actions, by_learners)
            if not waits.size:
                return
            waiting = self._asked.waiting[waits]
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
                self._arrays,
            )
            if end > start:
                places.append((start, end))

        run_slices(play, len(rows), self.threads)
        if not places:
            return _NOWHERE
        return np.concatenate([np.arange(start, end) for start, end in sorted(places)])

    def _ask(self, rows: Ints, asked: Ints) -> Ints:
        """The answers of the policies to move in these rows, which see what stands at the places ``asked``."""
        movers = self.dealt.states["current_player"][rows].astype(np.int64)
        line_ups, seats = self.dealt.line_ups[rows], self.dealt.seats[rows]
        numbers = self._numbers[line_ups, place_in_line_up(movers, seats, self.rules)]
        questions, answers = self._asked, np.empty(len(rows), dtype=np.int64)
        for number in np.unique(numbers):
            chosen = np.flatnonzero(numbers == number)
            places = asked[chosen]
            policy = self._policies[number]
            # Indexing copies, so what a policy does to its arguments can't make an illegal answer legal.
            given = np.asarray(policy.act(questions.views[places], questions.masks[places], questions.keys[places]))
            check_answers(policy.name, given, questions.views[places], questions.masks[places], is_shown=False)
            answers[chosen] = given
        return answers

    def rewards(self, rows: Ints) -> Floats:
        """``(N,)`` rewards of the learners' last actions; 0 in rows that have just been dealt. Ask once a turn."""
        rewards = np.zeros(len(rows))
        over = self.shown.over[rows]
        if over.any():
            ended = rows[over]
            winners, seats = self.shown.winners[ended], self.dealt.seats[ended]
            rewards[over] = self.reward.final(self.points(ended), winners, seats)
        if self.reward.is_shaped:
            first, last = self.potentials
            potentials = self.reward.potentials(self.shown.views[rows]) - first[rows]
            potentials[over & ~self.is_truncated(rows)] = 0.0
            rewards += potentials - last[rows]
            last[rows] = potentials
        return rewards

    def is_truncated(self, rows: Ints) -> Bools:
        """``(N,)`` bool, which of these rows were cut at ``max_turns``."""
        cut: Bools = self.shown.endings[rows] == TRUNCATED
        return cut

    def points(self, rows: Ints) -> Ints:
        """``(N,)`` points of the learners."""
        points: Ints = self.shown.returns[rows, self.dealt.seats[rows]]
        return points

    def observe(self, rows: Ints | None = None, out: Observations | None = None) -> Observations:
        """``(N, F)`` observations of the learners in these rows, in all of them if not given."""
        views = self.shown.views if rows is None else self.shown.views[rows]
        if out is None:
            out = self._observations.take() if rows is None else np.empty((len(rows), self.num_features), np.float32)
        self.encoding.encode_rows(views, self.rules, out, self.threads)
        return out

    def why_illegal(self, i: int, action: int) -> str:
        """What is wrong with an action in row ``i``, in words that tell no hidden card."""
        return explain_illegal(self.dealt.states, i, action, self.rules)

    def get_state(self) -> dict[str, Any]:
        """Copies of everything that the rows hold, by name, and the arguments that give it its meaning."""
        return {"arguments": self._arguments()} | {name: array.copy() for name, array in self._row_arrays().items()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Put back what `get_state` gave.

        Raises:
            PapluError: the state is of deals with other arguments; nothing has changed then.
        """
        for name, held in self._row_arrays().items():
            given = state.get(name)
            if not isinstance(given, np.ndarray) or given.shape != held.shape or given.dtype != held.dtype:
                raise PapluError(
                    f"{name!r} does not fit: the state was not taken with get_state() of an environment like this one"
                )
        check_arguments(state.get("arguments"), self._arguments())
        for name, held in self._row_arrays().items():
            held[:] = state[name]

    def _row_arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Every array that a row's future hangs on, by name."""
        policies = {"policy_seeds": self.seeds.policy_seeds, "num_dealt": self.seeds.num_dealt}
        return self.dealt._asdict() | self.shown._asdict() | self.potentials._asdict() | policies

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
