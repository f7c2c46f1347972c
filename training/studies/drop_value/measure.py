"""What playing on is worth, by kinds of hands, and what a drop rule made of it wins.

`outs` plays itself without drops; at every start of a turn its hand is put into a class by distance, wild cards,
outs, deadwood and the order of turns, and the points that the deal brought are averaged. A hand should be
dropped where that mean is below the cost of the drop: 20 before the first draw, 40 later under `points`.

Then the rule that `outs` follows (its estimate of playing on, see `bots.outs.kernels`) meets the published one,
a first drop at a distance over 4, on further duplicate deals, both with the same play otherwise; and its middle
drops meet none. How much a perfect rule for first drops would bring is estimated beside it (`ceiling`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from paplu_env.bots.outs.agent import OutsAgent
from paplu_env.bots.outs.weights import DEADWOOD, DRAWS, LATER, LOG_OUTS, WILD_CARDS, Weights, shipped_weights
from paplu_env.bots.policy import Policy
from paplu_env.bots.published.kernels import MAX_DISTANCE
from paplu_env.errors import PapluError
from paplu_env.evaluation import play_match
from paplu_env.files import check_target, json_of, to_json, write_together
from paplu_env.rules import as_rules
from training.fit.outs import DISTANCE, TERMS, never_dropping, note_starts, published_rule, quick
from training.studies.drop_value.ceiling import gains, play_hands

_RULES: Final = "points"
_FEWEST: Final = 100  # hands that a class needs to be shown
_OUTS_CUTS: Final = (20, 35, 50)  # classes of outs: below 20, below 35, …
_DEADWOOD_CUTS: Final = (60, 75, 90)

_EPILOG: Final = """\
examples:
  python -m training.studies.drop_value --deals 4000 --match-deals 5000 --ceiling-deals 2000
      what result.md shows
  python -m training.studies.drop_value --deals 200 --match-deals 50 --ceiling-deals 20 --playouts 5 --out runs/drops
      a quick look, which leaves result.md as it is
"""

Rows = npt.NDArray[np.float64]


def study(deals: int, seed: int) -> tuple[list[dict[str, Any]], int]:
    """Classes of hands with what playing on brought; and how many hands are behind them."""
    agent = OutsAgent(f"{_RULES}:drop_allowed=false", quick(shipped_weights()))
    rows, points = note_starts(agent, agent, deals, seed)
    return list(_classes(rows, points)), len(rows)


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


def without_middle_drops(weights: Weights) -> Weights:
    """The same agent, but one that drops at its first turn only."""
    return weights._replace(play_on=np.stack([weights.play_on[0], never_dropping(weights).play_on[1]]))


def as_markdown(data: dict[str, Any]) -> str:
    """The tables, the matches and the ceiling."""
    rules = as_rules(_RULES)
    classes, command = data["classes"], data["command"]
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
    match, middle, ceiling = data["match"], data["middle"], data["ceiling"]
    lines += [
        "## The rule",
        "",
        f"`outs`, which drops by its estimate, against itself with a first drop at a distance over {MAX_DISTANCE}: "
        f"{_result(match)}. First drops: {match['first_drops'][0] / match['games']:.1%} of games, the other "
        f"{match['first_drops'][1] / match['games']:.1%}.",
        "",
        "Its middle drops, against itself with first drops only (both look at one discard, which is quicker): "
        f"{_result(middle)}. It dropped later in {middle['middle_drops'][0] / middle['games']:.1%} of games.",
        "",
        "## What a perfect rule for first drops would bring",
        "",
        f"Points per deal over a first drop at a distance over {MAX_DISTANCE}, against an opponent that drops so. "
        f"{ceiling['hands']} hands at their first turn, each played on by the light player of `search` in "
        f"2 × {ceiling['playouts']} worlds; the perfect rule decides by one half of them and is judged by the other. "
        "± is one standard error.",
        "",
        "| rule | moving first | second | both |",
        "|---|---:|---:|---:|",
    ]
    for name, gain in ceiling["rules"].items():
        both = f"{gain['points']:+.2f} ± {gain['error']:.2f}"
        lines.append(f"| {name} | {gain['first']:+.2f} | {gain['second']:+.2f} | {both} |")
    return "\n".join([*lines, ""])


def _result(match: dict[str, Any]) -> str:
    low, high = match["points_interval"]
    return (
        f"**{match['points_per_deal']:+.2f} points per deal** [{low:+.2f}, {high:+.2f}], {match['win_rate']:.1%} of "
        f"games, {match['deals']} duplicate deals, rules `{_RULES}`, seed {match['seed']}"
    )


def _load_pyplot() -> Any:
    """The library that draws.

    Raises:
        PapluError: matplotlib isn't installed.
    """
    try:
        import matplotlib
    except ImportError as error:
        raise PapluError("the plot needs matplotlib: pip install 'paplu-env[report]'") from error
    matplotlib.use("Agg")
    from matplotlib import pyplot

    return pyplot


def draw_plot(classes: list[dict[str, Any]], path: Path) -> None:
    """What playing on is worth by distance and wild cards, beside the costs of the two drops."""
    pyplot = _load_pyplot()
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


def _match(a: Policy | str, b: Policy, deals: int, seed: int) -> dict[str, Any]:
    return {**play_match(a, b, deals, seed, _RULES).to_dict(), "seed": seed}


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Study, match, and write what came out.

    Returns:
        0 when the results are written, 2 if they can't be had as asked.
    """
    parser = argparse.ArgumentParser(
        prog="python -m training.studies.drop_value",
        description=__doc__,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--deals", type=int, default=20_000, help="deals of the study (%(default)s)")
    parser.add_argument("--match-deals", type=int, default=10_000, help="deals of each match (%(default)s)")
    parser.add_argument("--ceiling-deals", type=int, default=3_000, help="deals of the ceiling (%(default)s)")
    parser.add_argument("--playouts", type=int, default=100, help="playouts of each half of the ceiling (%(default)s)")
    parser.add_argument(
        "--seed", type=int, default=9_000_000, help="seed of all deals (%(default)s); the fit of `outs` uses others"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(__file__).with_name("result"),
        metavar="PATH",
        help="where to write: PATH.json, PATH.md and PATH.svg (default: result beside the study)",
    )
    parser.add_argument("--force", action="store_true", help="write over a file that this command did not write")
    options = parser.parse_args(arguments)
    command = f"python -m training.studies.drop_value --deals {options.deals} --match-deals {options.match_deals}"
    command += f" --ceiling-deals {options.ceiling_deals} --playouts {options.playouts} --seed {options.seed}"
    try:
        beside = options.out.with_suffix
        check_target(beside(".json"), json_of("command", "python -m training.studies.drop_value"), options.force)
        check_target(beside(".md"), "# What playing on is worth\n", options.force)
        if not beside(".json").exists():  # else the picture is that study's
            check_target(beside(".svg"), None, options.force)
        _load_pyplot()  # before the hours of the study
        classes, starts = study(options.deals, options.seed)
        _say(f"{starts:,} starts of turns in {len(classes)} classes")
        weights = shipped_weights()
        plain = OutsAgent(_RULES, published_rule(weights), "outs, drops over 4")
        match = _match("outs", plain, options.match_deals, options.seed + 1)
        _say(f"the rule: {match['points_per_deal']:+.2f} points per deal")
        early = OutsAgent(_RULES, quick(without_middle_drops(weights)), "outs, first drops only")
        middle = _match(OutsAgent(_RULES, quick(weights)), early, options.match_deals, options.seed + 2)
        _say(f"its middle drops: {middle['points_per_deal']:+.2f} points per deal")
        hands = play_hands(options.ceiling_deals, options.playouts, options.seed + 3)
        ceiling = {"playouts": options.playouts, **gains(hands, OutsAgent(_RULES))}
        _say(f"a perfect rule: {ceiling['rules']['perfect']['points']:+.2f} points per deal")
        data = {"command": command, "classes": classes, "match": match, "middle": middle, "ceiling": ceiling}
        # Before the plot, which needs matplotlib: a study that has run is not lost for want of it.
        write_together({beside(".json"): to_json(data), beside(".md"): as_markdown(data).encode()})
        draw_plot(classes, beside(".svg"))
    except (PapluError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"wrote {options.out}.md, .json and .svg")
    return 0
