"""Policies from ONNX files, played by onnxruntime alone: `OnnxPolicy`, and what such a file says of itself."""

from __future__ import annotations

import hashlib
import json
import os
import reprlib
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env import encoding as encodings
from paplu_env.bots.explanation import Judgement
from paplu_env.bots.networks.kindred_rules import can_tell, nearest_rules, stricter_masks
from paplu_env.bots.networks.logits import choose
from paplu_env.bots.policy import Actions, Keys, Masks, Policy
from paplu_env.encoding import Encoding
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.state import Views
from paplu_env.errors import InvalidFile, InvalidNotation, PapluError, PolicyMismatch
from paplu_env.reading import need, need_field, need_list, parse_json, read_json
from paplu_env.rules import RuleSet, as_rules

FORMAT: Final = "paplu-policy-1"  # the metadata key "format" of every policy file, and its version
INPUTS: Final = ("obs", "action_mask")  # (N, F) float32, (N, A) bool
OUTPUT: Final = "logits"  # (N, A) float32, masked entries at MASKED_LOGIT
# What stands for "never" among logits: finite, so that files compare and subtract safely, and so far
# down that its probability underflows to exactly zero beside any logit that a network gives.
MASKED_LOGIT: Final = -1e9
_FLOAT: Final = "tensor(float)"  # what onnxruntime calls float32
_LONGEST_NAME: Final = 100
_MOST_MEMORY: Final = 1 << 32  # bytes that all networks together may allocate; a batch of 4,096 games takes megabytes
_MOST_BYTES: Final = 1 << 31  # what a file of ONNX's format can have at all


@dataclass(frozen=True)
class PolicyInfo:
    """What a policy file was made for, read from the file itself."""

    name: str
    encoding: str
    num_features: int
    rules: tuple[str, ...]  # rules strings, the ones it was trained on first
    rules_hashes: tuple[str, ...]  # their hashes, which is what binds

    def to_metadata(self) -> dict[str, str]:
        """The texts that stand in the file; `from_metadata` reads them back."""
        return {
            "format": FORMAT,
            "name": self.name,
            "encoding": self.encoding,
            "num_features": str(self.num_features),
            "num_actions": str(NUM_ACTIONS),
            "rules": json.dumps(list(self.rules)),
            "rules_hashes": json.dumps(list(self.rules_hashes)),
        }

    @classmethod
    def from_metadata(cls, texts: Mapping[str, str], path: Path) -> PolicyInfo:
        """What the metadata of a policy file says.

        Raises:
            InvalidFile: it says nothing, or of another version, or something that cannot be read.
        """
        if texts.get("format") != FORMAT:
            raise InvalidFile(
                f"{path}: is no policy file of this version (format {texts.get('format')!r}, not {FORMAT!r}); "
                "training.export writes such files"
            )
        if texts.get("num_actions") != str(NUM_ACTIONS):
            raise InvalidFile(f"{path}: knows {texts.get('num_actions')} actions, the game has {NUM_ACTIONS}")
        try:
            lists = {key: parse_json(texts[key]) for key in ("rules", "rules_hashes")}
            info = cls(
                name=texts["name"],
                encoding=texts["encoding"],
                num_features=int(texts["num_features"]),
                rules=tuple(need_list(lists, "rules", str)),
                rules_hashes=tuple(need_list(lists, "rules_hashes", str)),
            )
        except KeyError as error:
            raise InvalidFile(f"{path}: its metadata cannot be read (it lacks {error})") from None
        except ValueError as error:  # InvalidNotation, and what int() says of other texts
            raise InvalidFile(f"{path}: its metadata cannot be read ({error})") from None
        if not info.name.isprintable() or not 0 < len(info.name) <= _LONGEST_NAME:
            raise InvalidFile(f"{path}: its name {reprlib.repr(info.name)} can't stand in a table")
        if not info.rules or len(info.rules) != len(info.rules_hashes):
            raise InvalidFile(f"{path}: names {len(info.rules)} rules and {len(info.rules_hashes)} hashes of rules")
        try:
            for rules in info.rules[:1]:  # those that it plays where nobody names any
                as_rules(rules)
        except PapluError as error:
            raise InvalidFile(f"{path}: its rules cannot be read ({error})") from None
        return info


class OnnxPolicy(Policy):
    """A network from an ONNX file.

    Args:
        path: the file. If its card (the same name with ``.json``) lies beside it, the file must have the
            card's sha256; without a card the file speaks for itself.
        rules: the rules to play, among those the file was made for or kindred to one of them (`kindred_rules`: they
            differ where a network can't tell, such as ``max_turns``); None takes its first.
        threads: threads inside one forward pass; more than one rarely pays for networks of this size.
        deterministic: the likeliest action; otherwise one drawn by the decision's key.

    Raises:
        InvalidFile: a missing, truncated, foreign or altered file.
        PolicyMismatch: an encoding, a number of features or rules other than the file's own.
        PapluError: onnxruntime isn't installed.
    """

    def __init__(
        self,
        path: str | Path,
        rules: RuleSet | str | None = None,
        threads: int = 1,
        deterministic: bool = True,
    ) -> None:
        self.path = Path(path)
        self._threads = threads
        self._data = _read_model(self.path)
        self.session = _open_session(self._data, self.path, threads)
        self.info = read_info(self.session, self.path)
        _try_out(self.session, self.info, self.path)
        super().__init__(self.info.name, self.info.rules[0] if rules is None else rules)
        self.deterministic = deterministic
        self.own_rules = _own_rules(self.info, self.rules, self.path)  # of the file: what it sees and plays by
        self.encoding: Encoding = _fitting_encoding(self.info, self.own_rules, self.path)

    def __getstate__(self) -> dict[str, Any]:
        # A session can't travel, the bytes that it was made of can: a copy plays on whatever became of the file.
        return {name: value for name, value in self.__dict__.items() if name != "session"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.session = _open_session(self._data, self.path, self._threads)

    def __deepcopy__(self, memo: dict[int, Any]) -> OnnxPolicy:
        # Nothing in a policy changes between calls, its session included; so copies may share it.
        return copy(self)

    def __copy__(self) -> OnnxPolicy:
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        return twin

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        obs, masks = self.seen(views, masks)
        logits = self.logits(obs, masks)
        return choose(logits, masks, None if self.deterministic else keys)

    def judge(self, views: Views, masks: Masks, keys: Keys) -> Judgement:
        """The probabilities of its legal actions, whether it plays the likeliest or draws."""
        masks = self._checked(views, masks, keys)
        obs, masks = self.seen(views, masks)
        logits = self.logits(obs, masks)[0].astype(np.float64)
        weights = np.where(masks[0], np.exp(logits - logits[masks[0]].max()), 0.0)
        action = choose(logits[None], masks, None if self.deterministic else keys)
        judgement = Judgement.nothing(int(action[0]))
        judgement.probabilities[:] = weights / weights.sum()
        return judgement

    def seen(self, views: Views, masks: Masks) -> tuple[npt.NDArray[np.float32], Masks]:
        """Observations ``(B, F)`` and masks ``(B, A)`` as the network knows them from the rules that it learned."""
        if self.own_rules == self.rules:
            return self.encoding.encode(views, self.rules), masks
        obs = np.empty((len(views), self.info.num_features), dtype=np.float32)
        self.encoding.encode_rows(views, self.own_rules, obs)
        # A deal that lasts longer than one of its own table: the clock stands still at its end.
        np.clip(obs, 0.0, 1.0, out=obs)
        return obs, stricter_masks(views, masks, self.own_rules, self.rules)

    def logits(self, obs: npt.ArrayLike, masks: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """``(B, A)`` logits for observations ``(B, F)`` and masks ``(B, A)`` of any numeric dtype, which are cast.

        Raises:
            PapluError: arrays of other shapes.
            InvalidFile: the network answers with something other than a finite number for an allowed action.
        """
        obs = np.ascontiguousarray(obs, dtype=np.float32)
        masks = np.ascontiguousarray(masks, dtype=np.bool_)
        if obs.ndim != 2 or obs.shape[1] != self.info.num_features or masks.shape != (len(obs), NUM_ACTIONS):
            raise PapluError(
                f"{self.name}: expected observations (B, {self.info.num_features}) and masks (B, {NUM_ACTIONS}), "
                f"not {obs.shape} and {masks.shape}"
            )
        return _run(self.session, obs, masks, self.path)


def _run(session: Any, obs: npt.NDArray[np.float32], masks: Masks, path: Path) -> npt.NDArray[np.float32]:
    """One forward pass, whose answer is held to what `logits` promises."""
    try:
        answer = session.run([OUTPUT], dict(zip(INPUTS, (obs, masks), strict=True)))[0]
    except Exception as error:  # onnxruntime's exceptions share no other base class
        raise InvalidFile(f"{path}: the network fails ({_first_line(error)})") from error
    if answer.shape != masks.shape or answer.dtype != np.float32:
        raise InvalidFile(
            f"{path}: the network answers {len(masks)} rows with {answer.dtype} of shape {answer.shape}, "
            f"not with float32 of shape {masks.shape}"
        )
    if not np.isfinite(answer[masks]).all():
        raise InvalidFile(f"{path}: the network's answer for an allowed action isn't a finite number")
    found: npt.NDArray[np.float32] = answer
    return found


def _read_model(path: Path) -> bytes:
    """The content of a policy file, its sha256 compared with a card's beside it.

    Raises:
        InvalidFile: the file is missing, or isn't the one that its card describes.
    """
    try:
        with open(path, "rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: NUL in the path
        raise InvalidFile(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from error
    if len(data) > _MOST_BYTES:
        raise InvalidFile(f"{path}: cannot be read (it is longer than {_MOST_BYTES >> 20} MiB)")
    _compare_with_card(path, data)
    return data


def _open_session(data: bytes, path: Path, threads: int) -> Any:
    """An onnxruntime session on the CPU for the content of a policy file.

    Raises:
        InvalidFile: it isn't ONNX.
        PapluError: onnxruntime isn't installed.
    """
    # From 1.29 on the library keeps an identifier and events in the user's cache folder and sends them; it looks at
    # this variable when it is imported. Whoever has set it otherwise is left alone.
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    try:
        import onnxruntime
    except ImportError as error:
        raise PapluError(
            f"{path}: playing an ONNX file needs onnxruntime; install it with: pip install 'paplu-env[onnx]'"
        ) from error
    if os.environ["ORT_DISABLE_TELEMETRY"] == "1" and hasattr(onnxruntime, "disable_telemetry_events"):
        onnxruntime.disable_telemetry_events()  # for an import that came before ours
    options = onnxruntime.SessionOptions()
    # One game asks for one row at a time: threads would cost more than they save, and every process of a
    # tournament would open a pool of them.
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised, and need not be printed too
    if _limit_memory():
        options.add_session_config_entry("session.use_env_allocators", "1")
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    # onnxruntime's exceptions share no base class but Exception, and differ between its versions.
    except Exception as error:
        raise InvalidFile(f"{path}: is not an ONNX file, or is truncated ({_first_line(error)})") from error


@cache
def _limit_memory() -> bool:
    """Let all sessions of the process share memory up to `_MOST_MEMORY`; False where that can't be agreed on."""
    import onnxruntime

    try:
        memory = onnxruntime.OrtMemoryInfo(
            "Cpu", onnxruntime.OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, onnxruntime.OrtMemType.DEFAULT
        )
        # Strategy 1 asks the system for what is needed, not for the next power of two.
        arena = onnxruntime.OrtArenaCfg({"max_mem": _MOST_MEMORY, "arena_extend_strategy": 1})
        onnxruntime.create_and_register_allocator(memory, arena)
    except Exception:  # another version of the library, or a program that has registered its own
        return False
    return True


def read_info(session: Any, path: Path) -> PolicyInfo:
    """What an opened policy file was made for.

    Raises:
        InvalidFile: the file has no such metadata (a foreign network), or its inputs don't fit it.
    """
    info = PolicyInfo.from_metadata(session.get_modelmeta().custom_metadata_map, path)
    inputs = {node.name: (node.type, node.shape[1:]) for node in session.get_inputs()}
    if inputs != {INPUTS[0]: (_FLOAT, [info.num_features]), INPUTS[1]: ("tensor(bool)", [NUM_ACTIONS])}:
        raise InvalidFile(
            f"{path}: its inputs are {_shown(inputs)}, not obs {_FLOAT} [{info.num_features}], "
            f"action_mask tensor(bool) [{NUM_ACTIONS}]"
        )
    outputs = {node.name: (node.type, node.shape[1:]) for node in session.get_outputs()}
    kind, shape = outputs.get(OUTPUT, ("", []))
    # A size that the file leaves open is a text or None: the trial run shows it.
    if kind != _FLOAT or (len(shape) == 1 and isinstance(shape[0], int) and shape[0] != NUM_ACTIONS):
        raise InvalidFile(f"{path}: its outputs are {_shown(outputs)}, not {OUTPUT} {_FLOAT} [{NUM_ACTIONS}]")
    return info


def _try_out(session: Any, info: PolicyInfo, path: Path) -> None:
    """Run a network once and in a batch, so that one that can't play is refused before the first deal.

    Raises:
        InvalidFile: it fails, or answers with another shape or type, or with something other than finite numbers.
    """
    for rows in (1, 3):  # some networks were exported for batches of 1
        obs = np.zeros((rows, info.num_features), dtype=np.float32)
        obs[1:] = 1.0
        _run(session, obs, np.ones((rows, NUM_ACTIONS), dtype=np.bool_), path)


def _shown(nodes: Mapping[str, tuple[str, list[Any]]]) -> str:
    text = ", ".join(f"{name} {kind} {shape}" for name, (kind, shape) in nodes.items())
    return text if len(text) <= 300 else f"{text[:300]}…"


def _first_line(error: Exception) -> str:
    """The beginning of an error's text: onnxruntime adds where in its source it was raised."""
    return str(error).partition("\n")[0][:300]


def _own_rules(info: PolicyInfo, rules: RuleSet, path: Path) -> RuleSet:
    """The rules of the file by which the network plays at a table."""
    if rules.hash in info.rules_hashes:
        return rules
    own = nearest_rules(info.rules, info.rules_hashes, rules)
    if own is None:
        raise PolicyMismatch(f"{path}: none of its rules, {' and '.join(info.rules)}, mean today what they meant")
    told = can_tell(own, rules)
    if told:
        raise PolicyMismatch(
            f"{path}: was trained for {' and '.join(info.rules)}, not for {rules}; the nearest are {own}, from which "
            f"the table differs in {', '.join(told)}: play it with the rules {own}, or export it again with also_rules"
        )
    return own


def _fitting_encoding(info: PolicyInfo, rules: RuleSet, path: Path) -> Encoding:
    """The file's encoding, once it is known to mean for these rules what it meant when the file was made."""
    try:
        encoding = encodings.by_name(info.encoding)
    except PapluError as error:
        raise PolicyMismatch(f"{path}: {error}") from error
    if encoding.num_features(rules) != info.num_features:
        raise PolicyMismatch(
            f"{path}: expects {info.num_features} features, {info.encoding} gives "
            f"{encoding.num_features(rules)} for {rules}"
        )
    return encoding


def _compare_with_card(path: Path, data: bytes) -> None:
    """Refuse a file that differs from what the card beside it, if there is one, describes."""
    card = path.with_suffix(".json")
    if not card.exists():
        return
    try:
        expected = need_field(need(read_json(card, is_finite=False), dict, "the whole"), "sha256", str)
    except InvalidNotation as error:
        raise InvalidFile(f"{card}: is not a policy's card ({error})") from None
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise InvalidFile(
            f"{path}: is truncated or altered: its sha256 is {found}, its card says {expected}; fetch it again"
        )
