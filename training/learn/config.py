"""What a training run is made of: `TrainConfig` and its parts, filled from a TOML file and checked by name."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

from paplu_env import encoding
from paplu_env.envs.core.rewards import Reward
from paplu_env.errors import InvalidFile, PapluError
from paplu_env.reading import read_toml
from paplu_env.rules import RuleSet, parse_rules

Activation = Literal["relu", "tanh"]
HiddenName = Literal["hidden-v1", "hidden-v2"]
Precision = Literal["float32", "bfloat16"]

# How long a run lasts, which may be changed while it is under way: see `RunFolder.begin`.
BUDGET: Final = ("ppo.timesteps", "minutes")

# What a run that goes on may have another value of.
CHANGEABLE: Final = (*BUDGET, "stop_when_folding")

_T = TypeVar("_T")


class InvalidConfig(PapluError):
    """A training configuration with an unknown key, a value of the wrong type, or values that contradict."""


def _key(meaning: str, default: Any = dataclasses.MISSING, low: float | None = None, high: float | None = None) -> Any:
    """A field with its meaning and, for numbers, its range; without a default the TOML file must give it."""
    metadata = {"meaning": meaning, "low": low, "high": high}
    if isinstance(default, type):
        return dataclasses.field(default_factory=default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class NetworkConfig:
    """The network: a trunk of fully connected layers under one head for the actions and one for the value."""

    hidden: tuple[int, ...] = _key("width of each hidden layer", (256, 256), 1, 4096)
    shared: bool = _key("policy and value share the trunk; otherwise each has its own", True)
    hidden_critic: bool = _key(
        "the value, in a trunk of its own, sees the hidden cards too; needs shared = false", False
    )
    hidden_layout: HiddenName = _key("encoding of the hidden cards: hidden-v2 adds distances and outs", "hidden-v2")
    guesses_hand: bool = _key("the policy's trunk also learns to guess the other hands, see ppo.guess_weight", False)
    face_width: int = _key("width of a layer that judges every face by the same weights; 0: no such layer", 32, 0, 1024)
    activation: Activation = _key("function between the layers", "relu")


@dataclass(frozen=True, kw_only=True)
class PPOConfig:
    """The learner, MaskablePPO; a timestep is one decision of the learner."""

    timesteps: int = _key("decisions of the learner in the whole run; 0 leaves the cloned network", 2_000_000, 0)
    steps: int = _key("decisions per game between two updates", 32, 2, 100_000)
    batch_size: int = _key("decisions per gradient step", 4096, 2)
    epochs: int = _key("passes over the collected decisions per update", 4, 1, 100)
    learning_rate: float = _key("Adam's step size at the start", 3e-4, 0.0, 1.0)
    final_learning_rate: float = _key("step size at the end of the run, reached in a straight line", 3e-5, 0.0, 1.0)
    gamma: float = _key("discount per decision; 1 values points now and points later alike", 1.0, 0.0, 1.0)
    gae_lambda: float = _key("1 trusts the outcome of the deal, 0 the learned value", 0.95, 0.0, 1.0)
    clip_range: float = _key("how far an update may move a probability, as a ratio", 0.2, 0.0, 1.0)
    entropy: float = _key("weight of the bonus on undecided play", 0.003, 0.0, 10.0)
    value_weight: float = _key("weight of the value's error in the loss", 0.5, 0.0, 100.0)
    max_grad_norm: float = _key("gradients longer than this are shortened to it", 0.5, 0.0)
    target_kl: float = _key("an update stops early beyond 1.5 times this divergence; 0 never stops it", 0.03, 0.0)
    average: float = _key(
        "share that a running average of the weights keeps at every update; it plays the matches and is what is "
        "exported; 0: the newest weights", 0.0, 0.0, 0.9999
    )  # fmt: skip
    lookahead: int = _key(
        "likeliest actions of a decision that are tried in the deal as it lies, and judged by the critic instead of by "
        "the deal's outcome; needs network.hidden_critic; 0: none",
        0,
        0,
        20,
    )
    magnet: float = _key(
        "weight of the divergence from a magnet, the policy as it was some updates ago", 0.0, 0.0, 100.0
    )
    magnet_every: int = _key("updates between two magnets; 0: the start of the run stays the magnet", 50, 0)
    permutes_suits: bool = _key("every pass over the decisions relabels their suits by chance", False)
    guess_weight: float = _key("weight of the error in guessing the other hands, see network.guesses_hand", 0.1, 0.0)


@dataclass(frozen=True, kw_only=True)
class OpponentsConfig:
    """Who sits opposite: one opponent is drawn for each deal, from bots and from the learner's past selves."""

    bots: tuple[str, ...] = _key(
        "names of bots or paths of exported policies; each is drawn equally often", ("mindist_opp",)
    )
    self_share: float = _key("share of deals against a past self, once there is one", 0.5, 0.0, 1.0)
    pool_size: int = _key(
        "past selves that are kept at most; one is dropped so that their steps stay evenly spread", 6, 1, 100
    )
    add_every: int = _key("updates between two past selves", 10, 1)


@dataclass(frozen=True, kw_only=True)
class CloneConfig:
    """The warm start: the network first learns to decide as a bot does, and to foresee the points."""

    teacher: str = _key("bot whose decisions are learned", "mindist_opp")
    keep: str = _key("folder where the teacher's decisions are kept for further runs; empty: nowhere", "")
    decisions: int = _key("decisions of the teacher in all; 0 starts from random weights", 0, 0)
    chunk: int = _key("decisions collected, learned and forgotten at a time", 65_536, 2)
    epochs: int = _key("passes over each chunk", 2, 1, 100)
    batch_size: int = _key("decisions per gradient step", 1024, 2)
    learning_rate: float = _key("Adam's step size at the start, falling to a tenth in a straight line", 1e-3, 0.0, 1.0)
    noise: float = _key("share of moves that are random in the games the teacher is asked about", 0.05, 0.0, 1.0)
    value_weight: float = _key("weight of the value's error in the loss", 0.5, 0.0, 100.0)
    permutes_suits: bool = _key("every gradient step relabels the suits of its decisions by chance", False)


@dataclass(frozen=True, kw_only=True)
class EvaluationConfig:
    """How the best network is chosen: by matches on duplicate deals against one bot that is never trained on."""

    opponent: str = _key("the fixed bot; may not be among the opponents", "minscore")
    is_trained_on: bool = _key(
        "it may be trained on after all: for a best response, which is meant to fit this one bot", False
    )
    deals: int = _key("distinct deals of each match, played once per seat", 1000, 2)
    every: int = _key("updates between two matches", 20, 1)
    seed: int = _key("seed of the deals, the same for every match of the run", 1_000_003, 0)


@dataclass(frozen=True, kw_only=True)
class TrainConfig:
    """One training run: the values of its TOML file, and the rules that they name, parsed once.

    Raises:
        InvalidConfig: a value of the wrong type or out of its range, or values that contradict each other.
    """

    name: str = _key("name of the run's folder and of the exported files")
    rules: str = _key("rules that are played, preset or preset:option=value", "points")
    also_rules: tuple[str, ...] = _key("further rules that the exported policy may be asked to play", ())
    mixed: bool = _key("also_rules are trained on too, with as many deals as rules", False)
    encoding: str = _key("encoding of the observations", "features-v1")
    reward: str = _key("what the learner is paid, see paplu_env.envs.core.rewards", "scaled")
    seed: int = _key("seed of weights, deals and sampling", 1, 0, 2**32 - 1)
    games: int = _key("deals played side by side", 512, 1, 65_536)
    precision: Precision = _key("precision in which the trunks multiply while learning; files are float32", "float32")
    threads: int = _key(
        "threads of the network and of the environment; more than one helps on a quiet machine only", 1, 1, 256
    )
    minutes: float = _key("time after which the run ends, decisions left or not; 0: no limit", 0.0, 0.0)
    stop_when_folding: bool = _key("a learner that drops nearly every deal for 20 updates in a row is stopped", True)
    checkpoint_every: int = _key("updates between two checkpoints", 10, 1)
    network: NetworkConfig = _key("see NetworkConfig", NetworkConfig)
    ppo: PPOConfig = _key("see PPOConfig", PPOConfig)
    opponents: OpponentsConfig = _key("see OpponentsConfig", OpponentsConfig)
    clone: CloneConfig = _key("see CloneConfig", CloneConfig)
    evaluation: EvaluationConfig = _key("see EvaluationConfig", EvaluationConfig)

    def __post_init__(self) -> None:
        _check_values(self, "")
        _check_together(self)

    def to_dict(self) -> dict[str, Any]:
        """All values as plain JSON types, `from_dict` reads them back."""
        plain: dict[str, Any] = _plain(dataclasses.asdict(self))
        return plain

    @functools.cached_property
    def rule_sets(self) -> tuple[RuleSet, ...]:
        """Everything that the exported policy may be asked to play, ``rules`` first and then ``also_rules``."""
        return tuple(parse_rules(text) for text in (self.rules, *self.also_rules))

    @property
    def main_rules(self) -> RuleSet:
        """The rule set that ``rules`` names: the run is measured on it."""
        return self.rule_sets[0]

    @property
    def tables(self) -> tuple[RuleSet, ...]:
        """The rules that are trained on."""
        return self.rule_sets if self.mixed else self.rule_sets[:1]

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> TrainConfig:
        """A configuration from nested mappings, as a TOML or JSON file holds them.

        Raises:
            InvalidConfig: an unknown key, by its dotted name, or what the constructor refuses.
        """
        return _build(cls, values, "")


def load_config(path: str | Path) -> TrainConfig:
    """The configuration that a TOML file describes; errors are those of `load`."""
    return load(path, TrainConfig)


def load(path: str | Path, kind: type[_T]) -> _T:
    """A configuration of some kind, a dataclass, from a TOML file.

    Raises:
        InvalidConfig: the file is missing or isn't TOML, a key is unknown or missing, by its dotted name, or a value
            is of the wrong type or what the constructor refuses.
    """
    try:
        values = read_toml(path)
    except InvalidFile as error:
        raise InvalidConfig(str(error)) from error
    try:
        config = _build(kind, values, "")
        _check_values(config, "")
        return config
    except PapluError as error:
        raise InvalidConfig(f"{path}: {error}") from error


def differences(one: TrainConfig, other: TrainConfig) -> list[str]:
    """Dotted names of the keys in which two configurations differ."""
    flat_one, flat_other = _flat(one.to_dict()), _flat(other.to_dict())
    return [key for key, value in flat_one.items() if flat_other[key] != value]


def _build(kind: type[_T], values: Mapping[str, Any], prefix: str) -> _T:
    """A dataclass from a mapping; nested tables become their dataclasses."""
    fields = {field.name: field for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    for key in values:
        if key not in fields:
            raise InvalidConfig(f"unknown key {prefix + key!r}: the keys here are {', '.join(fields)}")
    arguments: dict[str, Any] = {}
    for name, field in fields.items():
        if name not in values:
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                raise InvalidConfig(f"{prefix + name} is missing{_meaning_of(field)}")
        elif dataclasses.is_dataclass(hints[name]):
            if not isinstance(values[name], Mapping):
                raise InvalidConfig(f"{prefix + name}={values[name]!r}: must be a table, [{prefix + name}]")
            arguments[name] = _build(hints[name], values[name], f"{prefix}{name}.")
        else:
            arguments[name] = tuple(values[name]) if isinstance(values[name], list) else values[name]
    return kind(**arguments)


def _check_values(part: Any, prefix: str) -> None:
    """Refuse values of the wrong type or out of range, in this part and the parts inside it."""
    hints = get_type_hints(type(part))
    for field in dataclasses.fields(part):
        name, value, hint = prefix + field.name, getattr(part, field.name), hints[field.name]
        if dataclasses.is_dataclass(hint):
            _check_values(value, f"{name}.")
            continue
        if get_origin(hint) is tuple:
            if not isinstance(value, tuple):
                raise InvalidConfig(f"{name}={value!r}: must be a list{_meaning_of(field)}")
            for entry in value:
                _check_value(name, entry, get_args(hint)[0], field)
        elif get_origin(hint) is dict:
            if not isinstance(value, dict):
                raise InvalidConfig(f"{name}={value!r}: must be a table, [{name}]{_meaning_of(field)}")
        else:
            _check_value(name, value, hint, field)


def _meaning_of(field: dataclasses.Field[Any]) -> str:
    """What a field means, in brackets after a message, where it says so."""
    return f" ({field.metadata['meaning']})" if "meaning" in field.metadata else ""


_WORDS: Final = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


def _check_value(name: str, value: Any, hint: Any, field: dataclasses.Field[Any]) -> None:
    """Refuse one value that isn't of its field's type or lies out of its range."""
    meaning = _meaning_of(field)
    if get_origin(hint) is Literal:
        if value not in get_args(hint):
            raise InvalidConfig(f"{name}={value!r}: choose one of {', '.join(get_args(hint))}{meaning}")
        return
    is_right = isinstance(value, (int, float)) if hint is float else isinstance(value, hint)
    if not is_right or (isinstance(value, bool) and hint is not bool):
        raise InvalidConfig(f"{name}={value!r}: must be {_WORDS[hint]}{meaning}")
    low, high = field.metadata.get("low"), field.metadata.get("high")
    # Written so that NaN, which compares false with everything, is refused too.
    if low is not None and not (value >= low and (high is None or value <= high)):
        wanted = f"at least {low}" if high is None else f"{low}..{high}"
        raise InvalidConfig(f"{name}={value}: must be {wanted}{meaning}")


def _check_together(config: TrainConfig) -> None:
    """Refuse values that contradict each other, or name rules or an encoding that don't exist."""
    encoding.by_name(config.encoding)
    Reward(config.reward, config.main_rules)
    if not config.name or Path(config.name).name != config.name or config.name.startswith("."):
        raise InvalidConfig(f"name={config.name!r}: must be a plain file name, it names the run's folder")
    if not config.network.hidden:
        raise InvalidConfig("network.hidden=[]: give at least one layer")
    if not config.opponents.bots:
        raise InvalidConfig("opponents.bots=[]: name at least one bot, past selves only come in time")
    fixed = config.evaluation.opponent
    must_differ = not config.evaluation.is_trained_on
    if must_differ and fixed in config.opponents.bots:
        raise InvalidConfig(
            f"evaluation.opponent={fixed!r} is also among opponents.bots: "
            "the best network is chosen by matches with a bot that it never trained against"
        )
    network = config.network
    if network.hidden_critic and network.shared:
        raise InvalidConfig(
            "network.hidden_critic=true needs network.shared=false: the policy may not see hidden cards"
        )
    if config.ppo.lookahead == 1 or (config.ppo.lookahead and not network.hidden_critic):
        raise InvalidConfig(
            f"ppo.lookahead={config.ppo.lookahead}: compares at least two actions, by a critic that sees hidden cards "
            "(network.hidden_critic=true)"
        )
    if config.mixed and config.games % (1 + len(config.also_rules)):
        raise InvalidConfig(
            f"games={config.games} can't be shared evenly by {1 + len(config.also_rules)} rules, as mixed=true asks"
        )
    if config.ppo.batch_size > config.games * config.ppo.steps:
        raise InvalidConfig(
            f"ppo.batch_size={config.ppo.batch_size} is more than the games * ppo.steps = "
            f"{config.games * config.ppo.steps} decisions of an update"
        )


def _plain(value: Any) -> Any:
    """Tuples as lists, at any depth: what JSON gives back."""
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return list(value) if isinstance(value, tuple) else value


def _flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested mappings as one mapping with dotted keys."""
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat.update(_flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value})
    return flat
