"""The policies that ship: a run's network with its card, its matches and its speed, and the index of them all."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from paplu_env import engine
from paplu_env.bots import Policy, make_policy
from paplu_env.bots.networks.shipped import INDEX, INDEX_FORMAT, policies_folder
from paplu_env.bots.policy import decision_keys
from paplu_env.bots.registry import is_built_in
from paplu_env.engine.chance import policy_seed_of
from paplu_env.errors import InvalidFile, InvalidNotation, PapluError
from paplu_env.evaluation import play_match
from paplu_env.files import check_target, json_of, write_json
from paplu_env.reading import need, need_field, read_json
from training.run.policy_file import CARD_FORMAT, card_path, export_run
from training.run.progress import Progress

_NAME: Final = re.compile(r"[a-z][a-z0-9_-]*")
DEALS: Final = 5_000  # of each match that the card gets
SEED: Final = 2026  # of these matches: never that of a run's own evaluation, by which its network was chosen
_TIMED_DEALS: Final = 20  # some hundreds of decisions

# What the index takes of a match; the card has all of it.
_STRENGTH: Final = ("rules", "deals", "win_rate", "win_rate_interval", "points_per_deal", "points_interval")


def ship(
    run: str | Path,
    name: str,
    about: str,
    against: Sequence[str] = (),
    deals: int = DEALS,
    seed: int = SEED,
    folder: Path | None = None,
    last: bool = False,
    force: bool = False,
) -> Path:
    """Export a run's network into the folder of shipped policies, measure it, and write the index again.

    Args:
        run: the run's folder.
        name: what people will call it, as in ``paplu play NAME``.
        about: what it is, in one line.
        against: bots whom it is measured against, under the first rules that it was trained for.
        deals: duplicate deals of each match.
        seed: of the matches.
        folder: `policies_folder` unless given.
        last: the network of the last checkpoint instead of the best one.
        force: write over files that this did not write.

    Returns:
        The path of the ONNX file.

    Raises:
        PapluError: a name that is taken or no name, or a text of several lines.
        InvalidFile: the folder holds no run, or a card that can't be read.
    """
    _check_words(name, about)
    folder = policies_folder() if folder is None else folder
    check_target(folder / INDEX, json_of("format", INDEX_FORMAT), force)
    path = export_run(run, folder / f"{name}.onnx", last, force)
    policy = make_policy(str(path), None)
    matches = []
    for opponent in against:
        with Progress(f"measuring against {opponent}", deals * policy.rules.num_players) as progress:
            result = play_match(
                policy, opponent, deals, seed, policy.rules, progress=lambda finished, _: progress.show(finished)
            )
        matches.append(result.to_dict())
        print(result)
    card = read_card(card_path(path))
    card["about"] = about
    # Apart from the match in "evaluation", by which the network was chosen, so that it flatters.
    card["measured"] = matches
    card["microseconds"] = round(time_decision(policy), 1)
    write_json(card_path(path), card)
    write_index(folder)
    return path


def write_index(folder: Path) -> Path:
    """Write ``index.json`` from the cards in a folder; exported policies without a line about them stay out.

    Raises:
        InvalidFile: a card that can't be read, or whose ONNX file is missing.
    """
    entries = []
    for path in sorted(folder.glob("*.json")):
        if path.name != INDEX:
            card = read_card(path)
            if "about" in card:
                entries.append(_entry(path, card))
    index = folder / INDEX
    write_json(index, {"format": INDEX_FORMAT, "policies": entries})
    return index


def read_card(path: Path) -> dict[str, Any]:
    """What a policy's card says.

    Raises:
        InvalidFile: it is no card.
    """
    try:
        card = need(read_json(path, is_finite=False), dict, "the whole")
        if need_field(card, "format", str) != CARD_FORMAT:
            raise InvalidNotation(f"its format is {card['format']!r}, not {CARD_FORMAT!r}")
    except InvalidNotation as error:
        raise InvalidFile(f"{path}: is not a policy's card ({error})") from None
    return card


def time_decision(policy: Policy) -> float:
    """Microseconds of one decision alone, its encoding included: the median over deals against itself."""
    seconds: list[float] = []
    for seed in range(_TIMED_DEALS):
        states = engine.deal(policy.rules, seed)
        while not engine.is_over(states, 0):
            seat = int(states["current_player"][0])
            view, masks = engine.player_view(states, 0, seat), engine.legal_action_masks(states, policy.rules)
            start = time.perf_counter()
            action = policy.act(view, masks, decision_keys(policy_seed_of(seed), [0], view))
            seconds.append(time.perf_counter() - start)
            engine.apply_actions(states, action, policy.rules)
    return float(np.median(seconds)) * 1e6


def _check_words(name: str, about: str) -> None:
    is_taken = is_built_in(name) or name == Path(INDEX).stem
    if is_taken or not _NAME.fullmatch(name):
        raise PapluError(
            f"the name {name!r} "
            + ("is that of another bot" if is_taken else "must be small letters, digits, - and _, a letter first")
        )
    if not about.strip() or len(about.splitlines()) != 1:
        raise PapluError(f"about={about!r}: say in one line what the bot is")


def _entry(path: Path, card: Mapping[str, Any]) -> dict[str, Any]:
    """What the index says of one policy."""
    file = path.with_suffix(".onnx")
    if not file.is_file():
        raise InvalidFile(f"{path}: is the card of {file.name}, which is missing")
    try:
        return {
            "name": path.stem,
            "about": card["about"],
            "file": file.name,
            "card": path.name,
            "encoding": card["encoding"],
            "rules": card["rules"],
            "bytes": card["bytes"],
            "microseconds": card.get("microseconds"),
            "strength": [
                {"opponent": match["b"], **{name: match[name] for name in _STRENGTH}} for match in card["measured"]
            ],
        }
    except (KeyError, TypeError) as error:
        raise InvalidFile(f"{path}: is not a policy's card ({error!r})") from error
