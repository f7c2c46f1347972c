"""Everything that a run needs to go on after it was killed, in one file."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch

from paplu_env.errors import InvalidFile
from training.learn.learner import Learner
from training.run.tensors import Tensors, load_tensors, save_tensors

KIND: Final = "paplu-checkpoint-1"

_NET: Final = "net."  # prefixes of names of tensors
_COPIES: Final = ("magnet", "average")  # further networks that a learner may have
_ADAM: Final = "adam."
_TORCH_RNG: Final = "rng.torch"
_NUMPY_RNG: Final = "rng.numpy"


def save_checkpoint(path: Path, model: Learner, about: dict[str, Any]) -> None:
    """Write weights, optimizer, generators and step counter, atomically.

    Args:
        path: the file.
        model: the learner, between two updates.
        about: further plain values that `load_checkpoint` gives back.
    """
    # SB3 shuffles minibatches by NumPy's global generator and samples actions by torch's.
    name, keys, position, *_ = np.random.get_state(legacy=True)  # noqa: NPY002 - it is SB3's
    assert name == "MT19937"
    tensors: Tensors = {_TORCH_RNG: torch.get_rng_state().numpy(), _NUMPY_RNG: np.asarray(keys)}
    for key, value in model.policy.net.tensors().items():
        tensors[_NET + key] = value
    for name in _COPIES:
        if (copied := getattr(model, name)) is not None:
            tensors.update({f"{name}.{key}": value for key, value in copied.tensors().items()})
    for key, parameter in model.policy.named_parameters():
        for part, value in model.policy.optimizer.state.get(parameter, {}).items():
            tensors[f"{_ADAM}{part}.{key}"] = value.numpy().copy()
    own = {"step": model.num_timesteps, "updates": model._n_updates, "numpy_position": int(position)}
    save_tensors(path, KIND, tensors, {**about, **own})


def load_checkpoint(path: Path, model: Learner) -> dict[str, Any]:
    """Bring a learner to where it was when the file was written.

    Returns:
        What `save_checkpoint` was given as `about`, and ``step``.

    Raises:
        InvalidFile: a missing, truncated or foreign file, or one of another network.
    """
    tensors, about = load_tensors(path, KIND)
    policy = model.policy
    try:
        policy.net.load_tensors({k.removeprefix(_NET): v for k, v in tensors.items() if k.startswith(_NET)})
        for name in _COPIES:
            copied = {k.removeprefix(f"{name}."): v for k, v in tensors.items() if k.startswith(f"{name}.")}
            if copied:
                setattr(model, name, copy.deepcopy(policy.net))
                getattr(model, name).load_tensors(copied)
        policy.optimizer.load_state_dict(
            {"state": _adam_state(policy, tensors), "param_groups": policy.optimizer.state_dict()["param_groups"]}
        )
        torch.set_rng_state(torch.from_numpy(tensors[_TORCH_RNG].copy()))
        np.random.set_state(("MT19937", tensors[_NUMPY_RNG], about["numpy_position"], 0, 0.0))  # noqa: NPY002
        model.num_timesteps = int(about["step"])
        model._n_updates = int(about["updates"])
    except (KeyError, TypeError, ValueError, RuntimeError) as error:
        raise InvalidFile(f"{path}: is not a checkpoint of this network ({error!r})") from error
    return about


def checkpoint_step(path: Path) -> int:
    """The timestep at which a checkpoint was written.

    Raises:
        InvalidFile: a missing, truncated or foreign file.
    """
    return int(load_tensors(path, KIND)[1]["step"])


def _adam_state(policy: Any, tensors: Tensors) -> dict[int, dict[str, torch.Tensor]]:
    """Adam's moments as its ``load_state_dict`` takes them, by the number of the parameter."""
    state: dict[int, dict[str, torch.Tensor]] = {}
    for number, (key, _) in enumerate(policy.named_parameters()):
        parts = {
            name.removeprefix(_ADAM).removesuffix(f".{key}"): torch.from_numpy(value.copy())
            for name, value in tensors.items()
            if name.startswith(_ADAM) and name.endswith(f".{key}")
        }
        if parts:  # a learner that has never been updated has none
            state[number] = parts
    return state
