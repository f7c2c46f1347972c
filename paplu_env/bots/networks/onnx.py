"""Policies from ONNX files, played by onnxruntime alone: `OnnxPolicy`, and what such a file says of itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env import encoding as encodings
from paplu_env.bots.explanation import Judgement
from paplu_env.bots.networks.logits import choose
from paplu_env.bots.policy import Actions, Keys, Masks, Policy
from paplu_env.encoding import Encoding
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.engine.state import Views
from paplu_env.errors import InvalidFile, PapluError, PolicyMismatch
from paplu_env.rules import RuleSet, as_rules

FORMAT: Final = "paplu-policy-1"  # the metadata key "format" of every policy file, and its version
INPUTS: Final = ("obs", "action_mask")  # (N, F) float32, (N, A) bool
OUTPUT: Final = "logits"  # (N, A) float32, masked entries at MASKED_LOGIT
# What stands for "never" among logits: finite, so that files compare and subtract safely, and so far
# down that its probability underflows to exactly zero beside any logit that a network gives.
MASKED_LOGIT: Final = -1e9


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
            return cls(
                name=texts["name"],
                encoding=texts["encoding"],
                num_features=int(texts["num_features"]),
                rules=tuple(json.loads(texts["rules"])),
                rules_hashes=tuple(json.loads(texts["rules_hashes"])),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise InvalidFile(f"{path}: its metadata cannot be read ({error!r})") from error


class OnnxPolicy(Policy):
    """A network from an ONNX file.

    Args:
        path: the file. If its card (the same name with ``.json``) lies beside it, the file must have the
            card's sha256; without a card the file speaks for itself.
        rules: the rules to play, which must be among those the file was made for; None takes its first.
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
        self.session = _open_session(self.path, threads)
        self.info = read_info(self.session, self.path)
        super().__init__(self.info.name, self.info.rules[0] if rules is None else rules)
        self.deterministic = deterministic
        self.encoding: Encoding = _fitting_encoding(self.info, self.rules, self.path)

    def _choose(self, views: Views, masks: Masks, keys: Keys) -> Actions:
        logits = self.logits(self.encoding.encode(views, self.rules), masks)
        return choose(logits, masks, None if self.deterministic else keys)

    def judge(self, views: Views, masks: Masks, keys: Keys) -> Judgement:
        """The probabilities of its legal actions, whether it plays the likeliest or draws."""
        masks = self._checked(views, masks, keys)
        logits = self.logits(self.encoding.encode(views, self.rules), masks)[0].astype(np.float64)
        weights = np.where(masks[0], np.exp(logits - logits[masks[0]].max()), 0.0)
        judgement = Judgement.nothing()
        judgement.probabilities[:] = weights / weights.sum()
        return judgement

    def logits(self, obs: npt.ArrayLike, masks: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """``(B, A)`` logits for observations ``(B, F)`` and masks ``(B, A)`` of any numeric dtype, which are cast.

        Raises:
            PapluError: arrays of other shapes.
        """
        obs = np.ascontiguousarray(obs, dtype=np.float32)
        masks = np.ascontiguousarray(masks, dtype=np.bool_)
        if obs.ndim != 2 or obs.shape[1] != self.info.num_features or masks.shape != (len(obs), NUM_ACTIONS):
            raise PapluError(
                f"{self.name}: expected observations (B, {self.info.num_features}) and masks (B, {NUM_ACTIONS}), "
                f"not {obs.shape} and {masks.shape}"
            )
        answer: npt.NDArray[np.float32] = self.session.run([OUTPUT], dict(zip(INPUTS, (obs, masks), strict=True)))[0]
        return answer


def _open_session(path: Path, threads: int = 1) -> Any:
    """An onnxruntime session on the CPU for a policy file, its sha256 compared with a card's beside it.

    Raises:
        InvalidFile: the file is missing, isn't ONNX, or isn't the one that its card describes.
        PapluError: onnxruntime isn't installed.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise PapluError(
            f"{path}: playing an ONNX file needs onnxruntime; install it with: pip install 'paplu-env[onnx]'"
        ) from error
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InvalidFile(f"{path}: cannot be read ({error.strerror})") from error
    _compare_with_card(path, data)
    options = onnxruntime.SessionOptions()
    # One game asks for one row at a time: threads would cost more than they save, and every process of a
    # tournament would open a pool of them.
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only: they are raised anyway
    try:
        return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    # onnxruntime's exceptions share no base class but Exception, and differ between its versions.
    except Exception as error:
        raise InvalidFile(f"{path}: is not an ONNX file, or is truncated ({error})") from error


def read_info(session: Any, path: Path) -> PolicyInfo:
    """What an opened policy file was made for.

    Raises:
        InvalidFile: the file has no such metadata (a foreign network), or its inputs don't fit it.
    """
    info = PolicyInfo.from_metadata(session.get_modelmeta().custom_metadata_map, path)
    shapes = {node.name: node.shape[1:] for node in session.get_inputs()}
    if shapes != {INPUTS[0]: [info.num_features], INPUTS[1]: [NUM_ACTIONS]}:
        raise InvalidFile(
            f"{path}: its inputs are {shapes}, not obs [{info.num_features}], action_mask [{NUM_ACTIONS}]"
        )
    if not info.rules or len(info.rules) != len(info.rules_hashes):
        raise InvalidFile(f"{path}: names {len(info.rules)} rules and {len(info.rules_hashes)} hashes of rules")
    return info


def _fitting_encoding(info: PolicyInfo, rules: RuleSet, path: Path) -> Encoding:
    """The file's encoding, once it is known to mean for these rules what it meant when the file was made."""
    if rules.hash not in info.rules_hashes:
        raise PolicyMismatch(
            f"{path}: was trained for {' and '.join(info.rules)}, not for {rules}; "
            f"play it with the rules {as_rules(info.rules[0])}, or export it again with also_rules"
        )
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
        expected = json.loads(card.read_text(encoding="utf-8"))["sha256"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InvalidFile(f"{card}: is not a policy's card ({error!r})") from error
    found = hashlib.sha256(data).hexdigest()
    if found != expected:
        raise InvalidFile(
            f"{path}: is truncated or altered: its sha256 is {found}, its card says {expected}; fetch it again"
        )
