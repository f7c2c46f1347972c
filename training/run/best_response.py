"""What a learner, or a search, takes from a policy that stays as it is: trained or searched, measured, written down.

Three sets of deals are kept apart: those that a learner learns from (seeds of the configuration's ``seed``), those of
the matches by which its best network is chosen (``evaluation.seed``), and those of the final measurement, which nothing
before has seen. The seed of a deal has 64 bits, drawn or hashed from these numbers, so that no deal is in two of the
sets.
"""

from __future__ import annotations

import dataclasses
import hashlib
import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from paplu_env.bots import Policy, PolicyLike, exported_file, make_policy
from paplu_env.errors import PapluError
from paplu_env.evaluation import MatchResult, play_match
from paplu_env.files import write_json
from paplu_env.rules import RuleSet
from training.learn.config import CloneConfig, TrainConfig, load_config
from training.learn.opponents import NetworkPolicy
from training.learn.weights import load_weights
from training.run.checkpoint import KIND
from training.run.folder import RunFolder, provenance
from training.run.progress import Progress
from training.run.search_response import WORLDS, SearchBestResponse
from training.run.tensors import load_tensors
from training.run.training_loop import train

CONFIG: Final = Path(__file__).resolve().parents[2] / "configs" / "exploit.toml"
FORMAT: Final = "paplu-exploit-1"
DEALS: Final = 20_000  # of the final measurement: about ±0.5 points
SEARCHED_DEALS: Final = 300  # the same of a search, which takes seconds per deal: about ±4 points
SEED: Final = 4_000_037  # of the final measurement
_GAMES_OF_A_SEARCH: Final = 32  # on the table at once: few, so that the bar moves
ITSELF, NOBODY = "itself", "nobody"  # teachers that are no bot's name
LEARNER, SEARCH = "learner", "search"  # methods


@dataclass(frozen=True)
class Exploitation(ABC):
    """What was taken from a frozen policy, and how it was measured."""

    match: MatchResult  # the best response against the policy, on deals that nothing before has seen
    sha256: str | None  # of the policy's file; a bot of the package has the package's version

    @property
    def lower_bound(self) -> float:
        """Points per deal by which the policy can be exploited at least, at 97.5 % confidence; 0 holds anyway."""
        return max(0.0, self.match.points_interval[0])

    def __str__(self) -> str:
        match, (low, high) = self.match, self.match.points_interval
        found = (
            f"so {match.b} can be exploited by at least {self.lower_bound:.2f} points per deal"
            if self.lower_bound
            else "so nothing certain was found, which does not prove that there is nothing"
        )
        return (
            f"{self._who} takes {match.points_per_deal:+.2f} points per "
            f"deal from {match.b} (95 %: {low:+.2f} to {high:+.2f}{self._less_luck}) and wins {match.win_rate:.1%} of "
            f"{match.games:,} games on {match.deals:,} fresh deals of {match.rules}, {found}"
        )

    @property
    @abstractmethod
    def _who(self) -> str:
        """Who took it, with its budget."""

    @property
    def _less_luck(self) -> str:
        """The same figure, known more narrowly: beside the plain one, never in its place."""
        if self.match.adjusted_points is None or self.match.adjusted_interval is None:
            return ""
        low, high = self.match.adjusted_interval
        return f"; less the luck of the draws {self.match.adjusted_points:+.2f}, {low:+.2f} to {high:+.2f}"

    def to_dict(self) -> dict[str, Any]:
        """All figures as plain values, ready for JSON."""
        return {
            "format": FORMAT,
            "statement": str(self),
            "policy": self.match.b,
            "policy_sha256": self.sha256,
            "rules": self.match.rules,
            "points_per_deal": self.match.points_per_deal,
            "points_interval": self.match.points_interval,
            "win_rate": self.match.win_rate,
            "win_rate_interval": self.match.win_rate_interval,
            "lower_bound": self.lower_bound,
            **self._how(),
            "match": self.match.to_dict(),
            **provenance(),
        }

    @abstractmethod
    def _how(self) -> dict[str, Any]:
        """Method, budget, seeds and deals, as plain values."""


@dataclass(frozen=True)
class Learned(Exploitation):
    """What a learner took."""

    config: TrainConfig
    decisions: int  # of the learner, in all
    seconds: float  # of learning, in all sittings
    best_at: int  # decisions after which the best response was kept
    selection_points: float  # points per deal in the match by which it was chosen, which flatters
    clone: dict[str, Any] | None  # what cloning reached, if there was any

    @property
    def _who(self) -> str:
        start = f" after cloning {self.clone['decisions']:,} of {self.config.clone.teacher}" if self.clone else ""
        return f"a learner given {self.decisions:,} decisions{start}"

    def _how(self) -> dict[str, Any]:
        return {
            "method": LEARNER,
            "budget": {"decisions": self.config.ppo.timesteps, "minutes": self.config.minutes},
            "used": {"decisions": self.decisions, "seconds": round(self.seconds, 1), "best_at": self.best_at},
            "seeds": {
                "learning": self.config.seed,
                "selection": self.config.evaluation.seed,
                "measurement": self.match.seed,
            },
            "deals": {"selection": self.config.evaluation.deals, "measurement": self.match.deals},
            "selection_points": self.selection_points,
            "clone": self.clone,
            "config": self.config.to_dict(),
        }


@dataclass(frozen=True)
class Searched(Exploitation):
    """What a search took."""

    worlds: int  # per decision, at most
    base: str  # whose moves it leaves where it finds better ones
    seconds: float  # of the match

    @property
    def _who(self) -> str:
        return f"a search of {self.worlds:,} worlds per decision, from the moves of {self.base},"

    def _how(self) -> dict[str, Any]:
        return {
            "method": SEARCH,
            "budget": {"worlds": self.worlds},
            "used": {"seconds": round(self.seconds, 1)},
            "base": self.base,
            "seeds": {"measurement": self.match.seed},
            "deals": {"measurement": self.match.deals},
        }


def exploit(
    config: TrainConfig,
    out: Path,
    deals: int = DEALS,
    seed: int = SEED,
    resume: bool = False,
    start_from: Path | None = None,
) -> Learned:
    """Train a best response to the end of its budget, measure it, and write ``exploit.json`` into the run's folder.

    Args:
        config: what `best_response` made.
        out: the run's folder.
        deals: distinct deals of the final measurement, each played once per seat.
        seed: of these deals; another one than ``config.evaluation.seed``.
        resume: go on in a folder that holds this run already.
        start_from: weights to begin with, see `training_loop.train`.

    Raises:
        PapluError: what `train` and `play_match` refuse, or a measurement on the deals of the selection.
    """
    if seed == config.evaluation.seed:
        raise PapluError(
            f"seed={seed} is the one of the matches that choose the best network: measured on these deals it would "
            "look better than it is; give another --seed"
        )
    folder = train(config, out, resume, start_from)
    rules = config.main_rules
    net, about = load_weights(folder.best, config.encoding, rules)
    best_response = NetworkPolicy(config.name, net, config.encoding, rules)
    frozen = config.evaluation.opponent
    match = _measure(best_response, frozen, deals, seed, rules)
    _, end = load_tensors(folder.latest, KIND)
    result = Learned(
        match=match,
        sha256=_sha256(frozen),
        config=config,
        decisions=int(end["step"]),
        seconds=float(end["seconds"]),
        best_at=int(about["step"]),
        selection_points=float(about["evaluation"]["points_per_deal"]),
        clone=next(iter(folder.metrics("clone")), None),
    )
    write_json(folder.exploitation, result.to_dict())
    return result


def search(
    policy: str,
    out: Path,
    worlds: int = WORLDS,
    deals: int = SEARCHED_DEALS,
    seed: int = SEED,
    rules: str | None = None,
) -> Searched:
    """Measure what a search takes from a frozen policy, and write ``exploit.json`` into the folder ``out``.

    Args:
        policy: a bot's name or the path of an exported policy.
        worlds: worlds per decision, at most.
        deals: distinct deals, each played once per seat.
        seed: of these deals.
        rules: the rules that are played; if None an exported policy's own ones, for others those of the learner.

    Raises:
        PapluError: an unknown policy, one that doesn't play these rules, or a folder that holds a run.
    """
    folder = RunFolder(out)
    if folder.holds_run or folder.exploitation.exists():
        raise PapluError(f"{out}: holds a result already; choose another folder with --out")
    if rules is None and not exported_file(policy):
        rules = load_config(CONFIG).rules
    frozen = make_policy(policy, rules)
    searcher = SearchBestResponse(frozen, worlds)
    try:
        out.mkdir(parents=True, exist_ok=True)  # before the hours of the match
    except OSError as error:
        raise PapluError(f"{out}: cannot be written ({error.strerror}); choose another folder with --out") from error
    start = time.monotonic()
    match = _measure(searcher, frozen, deals, seed, frozen.rules, _GAMES_OF_A_SEARCH)
    result = Searched(match, _sha256(policy), worlds, searcher.base.name, time.monotonic() - start)
    write_json(folder.exploitation, result.to_dict())
    return result


def _measure(
    player: Policy, frozen: PolicyLike, deals: int, seed: int, rules: RuleSet, batch: int = 1024
) -> MatchResult:
    """The match on fresh deals, with a bar that shows how far it is."""
    with Progress(f"measuring on {deals:,} fresh deals", deals * rules.num_players) as progress:
        return play_match(
            player, frozen, deals, seed, rules, batch, progress=lambda finished, _: progress.show(finished)
        )


def _sha256(policy: str) -> str | None:
    """Of a policy's file; None for a bot of the package."""
    file = exported_file(policy)
    return None if file is None else hashlib.sha256(file.read_bytes()).hexdigest()


def best_response(
    template: TrainConfig,
    policy: str,
    rules: str | None = None,
    decisions: int | None = None,
    minutes: float | None = None,
    teacher: str | None = None,
) -> TrainConfig:
    """A configuration whose one opponent, in learning and in choosing the best network, is the frozen policy.

    Args:
        template: everything else; also what the arguments that are None stand for.
        policy: a bot's name or the path of an exported policy.
        rules: the rules that are played; an exported policy's own ones if None.
        decisions: of the learner, after cloning.
        minutes: after which the run ends, decisions left or not; 0: no limit.
        teacher: the bot that is cloned first, `ITSELF` for the policy, or `NOBODY`.

    Raises:
        PapluError: an unknown policy, or one that doesn't play these rules.
    """
    if rules is None:
        rules = str(make_policy(policy, None).rules) if exported_file(policy) else template.rules
    name = make_policy(policy, rules).name
    clone = template.clone
    if teacher == NOBODY:
        clone = dataclasses.replace(clone, decisions=0)
    elif teacher is not None:
        clone = dataclasses.replace(
            clone,
            teacher=policy if teacher == ITSELF else teacher,
            decisions=clone.decisions or CloneConfig().chunk,
        )
    return dataclasses.replace(
        template,
        name=f"exploit-{name}",
        rules=rules,
        also_rules=(),
        minutes=template.minutes if minutes is None else minutes,
        ppo=template.ppo if decisions is None else dataclasses.replace(template.ppo, timesteps=decisions),
        # No past selves: what beats them need not beat the policy.
        opponents=dataclasses.replace(template.opponents, bots=(policy,), self_share=0.0),
        clone=clone,
        evaluation=dataclasses.replace(template.evaluation, opponent=policy, is_trained_on=True),
    )
