"""What `search` would win if it were shown its opponent's cards: ``python -m training.studies.search_ceiling``.

A yardstick, not a player: about what this search would gain if it guessed the hidden hand perfectly. A search with
another value or another play after the candidates may go further. Candidates, play after them, value and stopping are
those of `search`; only the worlds differ: all hold the opponent's true hand, and the order of the closed stock is drawn
anew in each.

With ``--wins`` it plays for games won and not for points: each deal in its worlds is played to its end, and only who
won it counts.
"""

from __future__ import annotations

import argparse
import sys
from typing import Final

import numpy as np
import numpy.typing as npt

from paplu_env import engine
from paplu_env.bots import Policy, make_policy
from paplu_env.bots.policy import decision_keys
from paplu_env.bots.search.agent import SearchAgent
from paplu_env.bots.search.improve import Comparison, OneStepImprovement, add_points, two_seat_rules
from paplu_env.bots.search.kernels import BEHIND, MAX_CANDIDATES, NUM_TALLIES, candidates_kernel, is_settled
from paplu_env.bots.search.playout_policy import SCRATCH_ROWS, TO_THE_END
from paplu_env.cards import NUM_FACES
from paplu_env.engine.arguments import as_seed
from paplu_env.engine.chance import keys_for, policy_seed_of
from paplu_env.engine.state import OVER, States, Views
from paplu_env.engine.world import with_stocks
from paplu_env.errors import PapluError
from paplu_env.evaluation.stats import mean_interval, share_interval
from paplu_env.melds.fast_distance.distance_table import distance_table
from paplu_env.rules import RuleSet, as_rules
from training.run.search_response import worth_after

_RULES: Final = "points:drop_allowed=false"
_CHUNK: Final = 16  # worlds played side by side, after which clear cases stop
_EPILOG: Final = """\
examples:
  python -m training.studies.search_ceiling
  python -m training.studies.search_ceiling points-2 --deals 300 --worlds 64
  python -m training.studies.search_ceiling --wins --worlds 256
"""


class ShownSearch(OneStepImprovement):
    """`search` with the whole deal before it, but for the order of the stock. Hand it `states` before each `act`.

    Args:
        rules: of a table for two.
        worlds: orders of the stock per decision, at most.
        for_wins: whether it plays for games won in place of points.
    """

    states: States  # (B,), the deals whose views are asked about

    def __init__(self, rules: RuleSet | str, worlds: int, for_wins: bool = False) -> None:
        table = two_seat_rules(rules, "a search that is shown the cards")
        model = SearchAgent(table, worlds)
        super().__init__("search-shown", table, model.base, model.threshold, worlds)
        self.turns = TO_THE_END if for_wins else model.turns  # the fitted value knows of points alone
        self.for_wins = for_wins

    def _compare(self, views: Views, j: int, mask: npt.NDArray[np.bool_], key: np.uint64, base: int) -> Comparison:
        scratch = np.empty((SCRATCH_ROWS, NUM_FACES), dtype=np.uint8)
        actions = np.zeros(MAX_CANDIDATES, dtype=np.int64)
        count = int(candidates_kernel(views, j, mask, base, self.rules.packed, distance_table(), actions, scratch))
        tally = np.zeros((NUM_TALLIES, MAX_CANDIDATES), dtype=np.float64)
        rng, me = np.random.default_rng(int(key)), int(views["seat"][j])
        for first, last in self._portions(_CHUNK) if count > 1 else ():
            tried = np.flatnonzero(tally[BEHIND, :count] == 0)
            worlds = reordered(self.states[j : j + 1], last - first, rng)
            states = np.repeat(worlds, len(tried))
            engine.apply_actions(states, np.tile(actions[tried], len(worlds)), self.rules)
            points = worth_after(states, me, self.turns, self.rules)
            if self.for_wins:
                points = np.sign(points) * self.rules.max_points  # so that thresholds mean what they do elsewhere
            add_points(tally, tried, points.reshape(len(worlds), -1))
            if is_settled(tally, count):
                break
        return self._comparison(actions[:count], tally)


def reordered(state: States, worlds: int, rng: np.random.Generator) -> States:
    """``(worlds,)`` copies of one deal, the closed stock of each in another order."""
    stock = state["cards"][:, : int(state["stock_size"][0])]
    stocks = rng.permuted(stock.repeat(worlds, axis=0), axis=1)
    return with_stocks(state, stocks, rng.integers(2**63, size=worlds, dtype=np.uint64))


def play(agent: ShownSearch, opponent: Policy, deals: int, seed: int) -> npt.NDArray[np.int64]:
    """Points ``(deals, 2)`` of the agent in each deal, once from each seat."""
    numbers = np.arange(deals).repeat(2)
    first = np.tile([0, 1], deals)  # the agent sits at 0 in every row, so the first turn changes seats
    keys = keys_for(int(as_seed(seed, "seed")), numbers, 0, 0)
    states = engine.deal_many(agent.rules, keys, first)
    while (is_due := states["phase"] != OVER).any():
        for seat, policy in enumerate((agent, opponent)):
            rows = np.flatnonzero(is_due & (states["current_player"] == seat) & (states["phase"] != OVER))
            if not rows.size:
                continue
            due = states[rows]
            agent.states = due
            views = engine.player_views(due, np.full(len(rows), seat))
            masks = engine.legal_action_masks(due, agent.rules)
            actions = policy.act(views, masks, decision_keys(policy_seed_of(seed), numbers[rows], due))
            engine.apply_actions(due, actions, agent.rules)
            states[rows] = due
    points: npt.NDArray[np.int64] = states["returns"][:, 0].reshape(deals, 2).astype(np.int64)
    return points


def main(arguments: list[str] | None = None) -> int:
    """Play, and print what the shown search wins.

    Returns:
        0 when it is printed, 2 if it can't be had as asked.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.studies.search_ceiling",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "opponent", nargs="?", default="outs", help="a bot's name or the path of an exported one (outs)"
    )
    parser.add_argument("--rules", default=_RULES, help=f"rules of a table for two ({_RULES})")
    parser.add_argument("--worlds", type=int, default=64, help="orders of the stock per decision, at most (64)")
    parser.add_argument("--wins", action="store_true", help="play for games won in place of points")
    parser.add_argument("--deals", type=int, default=300, help="deals, each played from both seats (300)")
    parser.add_argument("--seed", type=int, default=44_000_000, help="seed of the deals (44000000)")
    given = parser.parse_args(arguments)
    try:
        if given.deals < 2:
            raise PapluError(f"--deals {given.deals}: an interval takes two")
        rules = as_rules(given.rules)
        agent = ShownSearch(rules, given.worlds, given.wins)
        points = play(agent, make_policy(given.opponent, rules), given.deals, int(as_seed(given.seed, "--seed")))
    except PapluError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    of_deals, won = points.mean(axis=1), (points > 0).mean(axis=1)
    low, high = mean_interval(of_deals)
    least, most = share_interval(won)
    aim = " and plays for wins" if given.wins else ""
    print(
        f"search that is shown the cards{aim} against {given.opponent}, {rules}: "
        f"{given.deals:,} deals from both seats, seed {given.seed}, {given.worlds} worlds\n"
        f"games won {won.mean():.1%} [{least:.1%}, {most:.1%}], points per deal {of_deals.mean():+.2f} "
        f"[{low:+.2f}, {high:+.2f}]"
    )
    return 0
