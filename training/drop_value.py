"""What playing on is worth, by kinds of hands, and what a drop rule made of it wins: ``python -m training.drop_value``.

`outs` plays itself without drops; at every start of a turn its hand is put into a class by distance, wild cards,
outs, deadwood and the order of turns, and the points that the deal brought are averaged. A hand should be
dropped where that mean is below the cost of the drop: 20 before the first draw, 40 later under `points`.

Then the rule that `outs` follows (its estimate of playing on, see `bots.outs_kernels`) meets the published one,
a first drop at a distance over 4, on further duplicate deals, both with the same play otherwise.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots.outs_agent import OutsAgent, shipped_weights
from paplu_env.bots.outs_kernels import (
    CONSTANT,
    DEADWOOD,
    DRAWS,
    LATER,
    LOG_OUTS,
    LOOKED_AT,
    WILD_CARDS,
    Weights,
)
from paplu_env.errors import PapluError
from paplu_env.evaluation import play_match
from paplu_env.rules import as_rules
from training.files import to_json, write_together
from training.fit_outs import DISTANCE, KIND, START, TERMS, note_decisions

_RULES: Final = "points"
_ALWAYS: Final = 1000.0  # points that no hand is worth: a line with this constant never or always drops
_MAX_DISTANCE: Final = 4  # the published rule drops hands further away, at an agent's first turn
_FEWEST: Final = 100  # hands that a class needs to be shown
_OUTS_CUTS: Final = (20, 35, 50)  # classes of outs: below 20, below 35, …
_DEADWOOD_CUTS: Final = (60, 75, 90)

Rows = npt.NDArray[np.float64]


def published_rule(weights: Weights) -> Weights:
    """The same agent, but one that drops first hands with a distance over 4, and no others."""
    play_on = np.zeros_like(weights.play_on)
    play_on[:, :, CONSTANT] = _ALWAYS
    play_on[0, _MAX_DISTANCE + 1 :, CONSTANT] = -_ALWAYS
    return weights._replace(play_on=play_on)


def study(deals: int, seed: int) -> tuple[list[dict[str, Any]], Rows, Rows]:
    """Classes of hands with what playing on brought; and the decisions behind them."""
    single = shipped_weights().single.copy()
    single[LOOKED_AT] = 1
    agent = OutsAgent(f"{_RULES}:drop_allowed=false", shipped_weights()._replace(single=single))
    rows, points, _ = note_decisions(agent, agent, deals, seed)
    starts = rows[:, KIND] == START
    rows, points = rows[starts], points[starts]
    return list(_classes(rows, points)), rows, points


def _classes(rows: Rows, points: Rows) -> Iterator[dict[str, Any]]:
    """One entry per class that has enough hands."""
    draws = rows[:, TERMS + DRAWS]
    outs = np.exp(rows[:, TERMS + LOG_OUTS]) - 1.0
    columns = {
        "distance": rows[:, DISTANCE].astype(int),
        "wild cards": np.minimum(rows[:, TERMS + WILD_CARDS].astype(int), 3),
        "outs": np.digitize(outs, _OUTS_CUTS),
        "deadwood": np.digitize(rows[:, TERMS + DEADWOOD], _DEADWOOD_CUTS),
        "second to move": rows[:, TERMS + LATER].astype(int),
    }
    for drop, chosen in (("first", draws == 0), ("middle", draws > 0)):
        for by in (("distance",), ("distance", "wild cards"), ("distance", "outs"), ("distance", "deadwood")):
            yield from _means(drop, by, columns, points, chosen)
        if drop == "first":
            yield from _means(drop, ("distance", "second to move"), columns, points, chosen)


def _means(
    drop: str,
    by: tuple[str, ...],
    columns: dict[str, npt.NDArray[np.int64]],
    points: Rows,
    chosen: npt.NDArray[np.bool_],
) -> Iterator[dict[str, Any]]:
    keys = np.stack([columns[name][chosen] for name in by], axis=1)
    for key in np.unique(keys, axis=0):
        brought = points[chosen][(keys == key).all(axis=1)]
        if len(brought) >= _FEWEST:
            error = float(brought.std(ddof=1) / np.sqrt(len(brought)))
            kinds = dict(zip(by, key.tolist(), strict=True))
            yield {"drop": drop, "by": kinds, "hands": len(brought), "points": float(brought.mean()), "error": error}


def as_markdown(classes: list[dict[str, Any]], match: dict[str, Any], command: str) -> str:
    """The tables, and the match of the two rules."""
    rules = as_rules(_RULES)
    lines = ["# What playing on is worth", "", f"Made by `{command}`; `outs` against itself, no drops.", ""]
    lines += [
        f"Outs: class 0 is below {_OUTS_CUTS[0]}, then below {', '.join(map(str, _OUTS_CUTS[1:]))}, or more. "
        f"Deadwood: below {', '.join(map(str, _DEADWOOD_CUTS))}, or more. Wild cards: 3 is three "
        "or more. ± is one standard error.",
        "",
    ]
    for drop, cost in (("first", rules.first_drop), ("middle", rules.middle_drop)):
        lines += [f"## {drop} drop (costs {cost})", "", "| hand | hands | playing on | drop? |", "|---|---:|---:|---|"]
        for each in classes:
            if each["drop"] == drop:
                name = ", ".join(f"{kind} {value}" for kind, value in each["by"].items())
                verdict = "yes" if each["points"] < -cost else ""
                lines.append(f"| {name} | {each['hands']} | {each['points']:+.1f} ± {each['error']:.1f} | {verdict} |")
        lines.append("")
    low, high = match["points_interval"]
    lines += [
        "## The rule",
        "",
        f"`outs`, which drops by its estimate, against itself with a first drop at a distance over {_MAX_DISTANCE}: "
        f"**{match['points_per_deal']:+.2f} points per deal** [{low:+.2f}, {high:+.2f}], "
        f"{match['win_rate']:.1%} of games, {match['deals']} duplicate deals, rules `{_RULES}`, seed {match['seed']}.",
        "",
    ]
    return "\n".join(lines)


def draw_plot(classes: list[dict[str, Any]], path: Path) -> None:
    """What playing on is worth by distance and wild cards, beside the costs of the two drops."""
    try:
        import matplotlib
    except ImportError as error:
        raise PapluError("the plot needs matplotlib: pip install 'paplu-env[report]'") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    rules = as_rules(_RULES)
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 4.2), sharey=True, constrained_layout=True)
    for axis, drop, cost in zip(axes, ("first", "middle"), (rules.first_drop, rules.middle_drop), strict=True):
        for wild_cards in range(4):
            shown = [
                each
                for each in classes
                if each["drop"] == drop
                and list(each["by"]) == ["distance", "wild cards"]
                and each["by"]["wild cards"] == wild_cards
            ]
            axis.errorbar(
                [each["by"]["distance"] for each in shown],
                [each["points"] for each in shown],
                [2 * each["error"] for each in shown],
                marker="o",
                capsize=3,
                label=f"{wild_cards}{' or more' if wild_cards == 3 else ''} wild cards",
            )
        axis.axhline(-cost, color="black", linestyle="--", label=f"dropping: −{cost}")
        axis.set_title(f"{drop} drop")
        axis.set_xlabel("distance (cards to replace)")
        axis.xaxis.get_major_locator().set_params(integer=True)
        axis.grid(alpha=0.3)
        axis.legend(fontsize=8)
    axes[0].set_ylabel("points per deal when played on")
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def main(arguments: list[str] | None = None) -> int:
    """Study, match, and write what came out."""
    parser = argparse.ArgumentParser(prog="python -m training.drop_value", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--deals", type=int, default=20_000, help="deals of the study (default: %(default)s)")
    parser.add_argument("--match-deals", type=int, default=10_000, help="deals of the match (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=9_000_000, help="of both; the fit of `outs` uses others")
    parser.add_argument("--out", type=Path, default=Path("configs/drop_value"), help="path without suffix")
    options = parser.parse_args(arguments)
    command = f"python -m training.drop_value --deals {options.deals} --match-deals {options.match_deals}"
    command += f" --seed {options.seed}"
    try:
        classes, rows, _ = study(options.deals, options.seed)
        print(f"{len(rows):,} starts of turns in {len(classes)} classes", file=sys.stderr, flush=True)
        plain = OutsAgent(_RULES, published_rule(shipped_weights()), "outs, drops over 4")
        result = play_match("outs", plain, options.match_deals, options.seed + 1, _RULES)
        print(f"the rule: {result.points_per_deal:+.2f} points per deal", file=sys.stderr, flush=True)
        match = {**result.to_dict(), "seed": options.seed + 1}
        data = {"command": command, "classes": classes, "match": match}
        beside = options.out.with_suffix
        # Before the plot, which needs matplotlib: a study that has run is not lost for want of it.
        write_together({beside(".json"): to_json(data), beside(".md"): as_markdown(classes, match, command).encode()})
        draw_plot(classes, beside(".svg"))
    except (PapluError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.out}.md, .json and .svg")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
