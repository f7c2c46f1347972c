"""A network as a file: its weights and what it takes to use them again, without anything executable."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from paplu_env import encoding as encodings
from paplu_env.errors import InvalidFile, PapluError, PolicyMismatch
from paplu_env.rules import RuleSet
from training.learn.config import NetworkConfig, TrainConfig
from training.learn.network import ActorCritic, make_network
from training.run.tensors import load_tensors, save_tensors

KIND: Final = "paplu-weights-1"


def save_weights(path: Path, net: ActorCritic, config: TrainConfig, about: Mapping[str, Any]) -> None:
    """Write a network with its encoding, rules and shape, atomically.

    Args:
        path: the file, in safetensors format.
        net: the network.
        config: the run that it comes from.
        about: further plain values; `load_weights` gives them back.
    """
    bound = {"encoding": config.encoding, "rules": config.rules, "network": dataclasses.asdict(config.network)}
    save_tensors(path, KIND, net.tensors(), {**about, **bound})


def find_weights(path: Path) -> Path:
    """The weights that somebody means.

    Args:
        path: a ``.safetensors`` file; a policy that `export_run` wrote, as ``policies/NAME`` or
            ``policies/NAME.onnx``, whose weights lie beside it; or the folder of a run, whose best network is meant.

    Raises:
        InvalidFile: there are no weights.
    """
    if path.is_dir():
        found = path / "best.safetensors"
    elif path.suffix == ".onnx":
        found = path.with_suffix(".safetensors")
    else:
        # A policy's own name may have a dot in it, so the ending is added and not put in another's place.
        found = path if path.suffix == ".safetensors" else path.with_name(f"{path.name}.safetensors")
    if not found.is_file():
        raise InvalidFile(
            f"{found}: there is no such file; learning goes on from weights, NAME.safetensors, which the export of a "
            "run lays beside its NAME.onnx"
        )
    return found


def load_weights(path: Path, encoding: str, rules: RuleSet) -> tuple[ActorCritic, dict[str, Any]]:
    """The network of a file, and what the file says about it.

    Raises:
        InvalidFile: a missing, truncated or foreign file.
        PolicyMismatch: a network of another encoding, or for observations of another size.
    """
    tensors, about = load_tensors(path, KIND)
    if about.get("encoding") != encoding:
        raise PolicyMismatch(f"{path}: was trained on {about.get('encoding')!r}, not on {encoding!r}")
    num_features = encodings.by_name(encoding).num_features(rules)
    try:
        shape = about["network"]
        network = NetworkConfig(**{**shape, "hidden": tuple(shape["hidden"])})
        net = make_network(network, encoding, rules)
        first = tensors["trunk.0.weight"]
    except (KeyError, TypeError, PapluError) as error:
        raise InvalidFile(f"{path}: does not describe its network ({error!r})") from error
    if first.shape[-1] != num_features:
        raise PolicyMismatch(f"{path}: expects {first.shape[-1]} features, {encoding} gives {num_features} for {rules}")
    try:
        net.load_tensors(tensors)
    except RuntimeError as error:
        raise InvalidFile(f"{path}: its weights do not fit the network it describes ({error})") from error
    return net, about
