"""A network as a policy file: ONNX, compared with torch before it is written, with a card that says what it is."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import shlex
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
import torch
from torch import nn

from paplu_env import encoding as encodings
from paplu_env.bots import make_policy
from paplu_env.bots.networks.onnx import INPUTS, OUTPUT, PolicyInfo
from paplu_env.encoding import Encoding
from paplu_env.engine.actions import NUM_ACTIONS
from paplu_env.errors import InvalidFile, InvalidNotation, PapluError, PolicyMismatch
from paplu_env.files import check_target, json_of, to_json, write_json, write_together
from paplu_env.reading import need, need_field, read_json
from paplu_env.rules import RuleSet, as_rules
from training.learn.decisions import collect_decisions
from training.learn.network import MaskedLogits, mask_logits
from training.learn.weights import load_weights, save_weights
from training.run.folder import RunFolder, check_not_kept, provenance

CARD_FORMAT: Final = "paplu-card-1"
OPSET: Final = 18  # the exporter's own; onnxruntime, onnxruntime-node and -web of the last years all run it
_OWN: Final = {  # how the files of an export begin, for `check_target`; an ONNX file names its format anywhere
    ".onnx": r".*?paplu-policy-",
    ".json": json_of("format", "paplu-card-"),
    ".safetensors": r'.{8}\{"__metadata__":\{.*?"format":"paplu-weights-',
}

# How far logits of torch and onnxruntime, which sum float32 in different orders, may differ: by `_RELATIVE_TOLERANCE`
# times the largest legal logit, or by `_TOLERANCE` where that is more, since what counts is one logit beside another.
_TOLERANCE: Final = 1e-4
_RELATIVE_TOLERANCE: Final = 2e-5
# A trained bot and a random one, so that states of good play, of lost hands and of late turns all occur.
_STATES_FROM: Final = ("mindist_opp", "random")
_DEALS_FOR_STATES: Final = 64  # of each: several thousand states


def export_module(
    module: nn.Module,
    encoding: str,
    rules: RuleSet | str,
    path: str | Path,
    *,
    also_rules: Sequence[RuleSet | str] = (),
    training: Mapping[str, Any] | None = None,
    evaluation: Sequence[Mapping[str, Any]] = (),
    force: bool = False,
) -> Path:
    """Write a torch module as a policy file that `make_policy` plays, and its card beside it.

    The file is compared with the module on thousands of real positions before anything is written, and
    both files are written whole or stay as they were.

    Args:
        module: takes observations ``(N, F)`` float32 and masks ``(N, A)`` bool, returns logits ``(N, A)``.
            Entries that the mask forbids are replaced, so it may ignore the mask. Put into eval mode.
        encoding: name of the encoding that it reads.
        rules: the rules that it was trained for.
        path: where to write, ``NAME.onnx``; the card becomes ``NAME.json``.
        also_rules: further rules that it may be asked to play; the encoding must have as many features there.
        training: what the card shall say about its training.
        evaluation: results of matches, as `MatchResult.to_dict` gives them, for the card.
        force: write over files that no export wrote.

    Returns:
        The path of the ONNX file.

    Raises:
        PolicyMismatch: rules under which the encoding has another number of features.
        PapluError: the module can't be exported, answers in another shape or with NaN or infinity, the file
            answers otherwise, or can't be written.
    """
    path = Path(path)
    if path.suffix != ".onnx":
        raise PapluError(f"{path}: a policy file's name ends in .onnx")
    _check_targets(force, path, card_path(path))
    tables = [as_rules(rules), *(as_rules(other) for other in also_rules)]
    coder = encodings.by_name(encoding)
    info = PolicyInfo(
        name=path.stem,
        encoding=encoding,
        num_features=_common_features(coder, tables),
        rules=tuple(str(table) for table in tables),
        rules_hashes=tuple(table.hash for table in tables),
    )
    masked = _Masked(module).eval()
    _check_answer(module, info)
    examples = (torch.zeros(2, info.num_features), torch.ones(2, NUM_ACTIONS, dtype=torch.bool))
    data = _to_onnx(masked, examples, info.to_metadata())
    parity = _check_parity(masked, data, coder, tables)
    card = {
        "format": CARD_FORMAT,
        **{key: value for key, value in info.to_metadata().items() if key not in ("format", "rules", "rules_hashes")},
        "num_features": info.num_features,
        "num_actions": NUM_ACTIONS,
        "rules": list(info.rules),
        "rules_hashes": list(info.rules_hashes),
        "rules_options": [table.to_dict() for table in tables],
        "opset": OPSET,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "parity": parity,
        "training": dict(training or {}),
        "evaluation": [dict(result) for result in evaluation],
        "exported": provenance(),
    }
    write_together({path: data, card_path(path): to_json(card)})
    return path


def export_run(run: str | Path, out: str | Path | None = None, last: bool = False, force: bool = False) -> Path:
    """Export the network of a run that did best against its fixed agent; its weights go beside it.

    Args:
        run: the run's folder.
        out: where to write, ``NAME.onnx``; in the run's folder, under its name, unless given.
        last: the network of the last checkpoint instead, whatever its matches said.
        force: write over files that no export wrote.

    Raises:
        InvalidFile: the folder holds no run, none that has saved a network, or files that describe no run.
    """
    folder = RunFolder(run)
    description = folder.read()
    config = folder.read_config()
    rules, *also_rules = config.rule_sets
    source = folder.last if last else folder.best
    if not source.exists():
        raise InvalidFile(f"{folder.path}: has not kept a network yet; train it first")
    net, about = load_weights(source, config.encoding, rules)
    path = Path(out) if out is not None else folder.path / f"{config.name}.onnx"
    _check_targets(force, path, card_path(path), path.with_suffix(".safetensors"))
    for key in ("step", "seconds", "evaluation"):
        if key not in about:
            raise InvalidFile(f"{source}: has no {key!r}, so it isn't the network that a run kept as its best")
    training = {
        **{key: description[key] for key in ("config", "versions", "commit", "time")},
        "decisions": about["step"],
        "seconds": about["seconds"],
        "clone": folder.metrics("clone")[-1:],
        "last_update": folder.metrics("update")[-1:],
    }
    export_module(
        MaskedLogits(net),
        config.encoding,
        rules,
        path,
        also_rules=also_rules,
        training=training,
        evaluation=[about["evaluation"]],
        force=force,
    )
    save_weights(path.with_suffix(".safetensors"), net, config, about)
    return path


def _check_targets(force: bool, *paths: Path) -> None:
    """Refuse to write over what a run keeps, and over files that no export wrote.

    Raises:
        PapluError: it names the path.
    """
    check_not_kept(*paths)
    for path in paths:
        check_target(path, _OWN[path.suffix], force)


def add_evaluation(path: Path, results: Sequence[Mapping[str, Any]]) -> None:
    """Write further matches of an exported policy into its card.

    Raises:
        InvalidFile: there is no card beside the file.
    """
    try:
        card = need(read_json(card_path(path), is_finite=False), dict, "the whole")
        card["evaluation"] = need_field(card, "evaluation", list) + [dict(result) for result in results]
    except InvalidNotation as error:
        raise InvalidFile(f"{card_path(path)}: is not a policy's card ({error})") from None
    write_json(card_path(path), card)


def card_path(path: Path) -> Path:
    """Where the card of a policy file lies."""
    return path.with_suffix(".json")


def play_command(path: Path) -> str:
    """What to type to sit down opposite an exported policy."""
    rules = read_json(card_path(path), is_finite=False)["rules"][0]
    words = ["paplu", "play", str(path)]
    return shlex.join(words if as_rules(rules) == RuleSet() else [*words, "--rules", rules])


class _Masked(nn.Module):
    """A module whose logits are masked, whether it does so itself or not."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.module = module

    def forward(self, obs: torch.Tensor, action_mask: torch.Tensor) -> torch.Tensor:
        return mask_logits(self.module(obs, action_mask), action_mask)


def _common_features(encoding: Encoding, tables: Sequence[RuleSet]) -> int:
    """F, which must be the same under all the rules."""
    sizes = {encoding.num_features(table) for table in tables}
    if len(sizes) != 1:
        raise PolicyMismatch(
            f"{encoding.name} has {' and '.join(map(str, sorted(sizes)))} features under "
            f"{', '.join(map(str, tables))}: one policy can't play them all"
        )
    return sizes.pop()


def _check_answer(module: nn.Module, info: PolicyInfo) -> None:
    """Refuse a module that doesn't answer with one logit per action; masking would stretch its answer."""
    wanted = (
        f"a policy's module takes observations (N, {info.num_features}) float32 and masks (N, {NUM_ACTIONS}) bool, "
        f"and returns logits (N, {NUM_ACTIONS})"
    )
    try:
        with torch.inference_mode():
            answer = module(torch.zeros(2, info.num_features), torch.ones(2, NUM_ACTIONS, dtype=torch.bool))
    except Exception as error:  # somebody's module may raise anything
        raise PapluError(f"the module fails on two rows of {info.encoding} ({error!r}): {wanted}") from error
    if not isinstance(answer, torch.Tensor):
        raise PapluError(f"the module answers with a {type(answer).__name__}, not with a tensor: {wanted}")
    if tuple(answer.shape) != (2, NUM_ACTIONS):
        raise PapluError(f"the module answers in shape {tuple(answer.shape)} to two rows: {wanted}")


def _to_onnx(module: nn.Module, examples: tuple[torch.Tensor, torch.Tensor], about: dict[str, str]) -> bytes:
    """The module as a checked ONNX model with its metadata, for any number of rows.

    Raises:
        PapluError: the exporter can't follow the module, or needs operators of its own.
    """
    batch = torch.export.Dim("batch")
    try:
        with _quiet_exporter():
            program = torch.onnx.export(
                module,
                examples,
                input_names=list(INPUTS),
                output_names=[OUTPUT],
                opset_version=OPSET,
                dynamic_shapes=({0: batch}, {0: batch}),
                dynamo=True,
                verbose=False,
            )
    except Exception as error:  # of the exporter, of torch.export below it, or of the module itself
        raise PapluError(
            f"torch can't export the module; Python that depends on the numbers in a tensor is the usual reason "
            f"({error})"
        ) from error
    assert program is not None
    model = program.model_proto
    graph = model.graph
    for part in (*graph.node, *graph.value_info, *graph.input, *graph.output, *graph.initializer):
        del part.metadata_props[:]  # the exporter's notes, such as paths of source files on this machine
    onnx.helper.set_model_props(model, about)
    onnx.checker.check_model(model, full_check=True)
    foreign = sorted({node.domain for node in model.graph.node} - {"", "ai.onnx"})
    if foreign:
        raise PapluError(f"the module needs operators outside the ONNX standard: {', '.join(foreign)}")
    data: bytes = model.SerializeToString(deterministic=True)
    return data


@contextlib.contextmanager
def _quiet_exporter() -> Iterator[None]:
    """Without the exporter's remarks on optional packages and on its own internals."""
    log = logging.getLogger("torch.onnx")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(level)


def _check_parity(module: nn.Module, data: bytes, encoding: Encoding, tables: Sequence[RuleSet]) -> dict[str, Any]:
    """Compare file and module on positions from real games, one at a time and many at once.

    Returns:
        How many states were compared, and the largest difference of a logit.

    Raises:
        PapluError: they differ, or the module answers with NaN or infinity.
    """
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    worst, states = 0.0, 0
    for table in tables:
        for name in _STATES_FROM:
            chunk = collect_decisions(make_policy(name, table), _DEALS_FOR_STATES, seed=0)
            obs, masks = chunk.obs(encoding), chunk.masks()
            with torch.inference_mode():
                expected = module(torch.from_numpy(obs), torch.from_numpy(masks)).numpy()
            if not np.isfinite(expected).all():  # forbidden actions have MASKED_LOGIT here, which is finite
                raise PapluError(
                    f"the module's logits are NaN or infinite on positions of {name} under {table}: nothing was written"
                )
            found = _run(session, obs, masks)
            one = _run(session, obs[:1], masks[:1])
            apart = (np.abs(a - b).max() for a, b in ((found, expected), (one, expected[:1])))
            worst = float(np.max([worst, *apart]))  # unlike max(), NaN if any of them is
            states += len(chunk)
            top = np.sort(expected, axis=1)
            allowed = max(_TOLERANCE, _RELATIVE_TOLERANCE * float(np.abs(expected[masks]).max()))
            is_clear = top[:, -1] - top[:, -2] > 2 * allowed
            if not worst <= allowed or (found.argmax(axis=1) != expected.argmax(axis=1))[is_clear].any():
                raise PapluError(
                    f"onnxruntime answers otherwise than torch on positions of {name} under {table} (logits differ by "
                    f"up to {worst:.2g}, allowed are {allowed:g}): nothing was written"
                )
    return {"states": states, "largest_difference": worst}


def _run(session: Any, obs: npt.NDArray[np.float32], masks: npt.NDArray[np.bool_]) -> npt.NDArray[np.float32]:
    answer: npt.NDArray[np.float32] = session.run([OUTPUT], dict(zip(INPUTS, (obs, masks), strict=True)))[0]
    return answer
