"""The named tables: what each changes in the default game (RULES.md 3.25)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from paplu_env.errors import InvalidRules


@dataclass(frozen=True)
class Preset:
    """A named table: what differs from ``points``, for how many players, and in one sentence what it is."""

    meaning: str
    options: Mapping[str, Any]
    players: tuple[int, int] | None = None  # fewest and most, where the packs alone don't say it
    adjust: Callable[[int], Mapping[str, Any]] | None = None  # options that follow from num_players


PRESETS: Final[Mapping[str, Preset]] = {
    "points": Preset("the default game: Points Rummy for two, two packs", {}),
    "classic": Preset(
        "sets of four at the most, wrong declarations possible",
        {"max_set_size": 4, "wrong_declare": "allowed"},
        (2, 6),
    ),
    "pagat": Preset(
        "anti-clockwise, three packs from seven players, rounding to 5, a cheap first drop with the cards back, "
        "half and double rates",
        {
            "printed_joker_indicator": "twin",
            "first_drop": 10,
            "first_drop_returns_cards": True,
            "round_to": 5,
            "half_rate": True,
            "hand_rummy": True,
            "direction": "anticlockwise",
        },
        adjust=lambda players: {"num_decks": 3} if players >= 7 else {},
    ),
    "online": Preset(
        "the pile is reshuffled; without both lives every card counts",
        {"stock_out": "reshuffle_keep_top", "gate": "all_or_nothing"},
    ),
    "one_life": Preset("one pure sequence is enough", {"min_sequences": 1}),
    "paplu_bonus": Preset("the Paplu is wild and pays its holder", {"paplu_wild": True, "paplu_bonus": "held"}),
    "tanala": Preset("three packs; three copies of a face count as a pure sequence", {"num_decks": 3, "tanala": True}),
    "ten_card": Preset(
        "ten cards, one pure sequence and the rest in groups",
        {
            "hand_size": 10,
            "min_sequences": 1,
            "max_points": 60,
            "wrong_declare_points": 60,
            "first_drop": 10,
            "middle_drop": 30,
        },
    ),
    "rummy_21": Preset(
        "21 cards, three packs, wild neighbours, three pure sequences or a special hand",
        {
            "num_decks": 3,
            "hand_size": 21,
            "wild_neighbours": True,
            "min_sequences": 3,
            "min_pure_sequences": 3,
            "tanala": True,
            "special_hands": True,
            "max_points": 120,
            "wrong_declare_points": 120,
            "first_drop": 30,
            "middle_drop": 70,
        },
    ),
    "one_pack": Preset("one pack and one printed joker, two players", {"num_decks": 1}, (2, 2)),
    "saha2025": Preset(
        "arXiv:2601.00024: indicator first, never a joker; the whole pile reshuffled; lowest hand wins at the limit",
        {
            "printed_joker_indicator": "redraw",
            "stock_out": "reshuffle_all",
            "turn_limit_result": "lower_deadwood",
            "indicator_first": True,
        },
    ),
}


def preset_options(name: str, players: int) -> dict[str, Any]:
    """What a preset changes in the default game at a table of ``players`` seats.

    Raises:
        InvalidRules: an unknown preset, or one that isn't played by this number of seats.

    >>> preset_options("pagat", 8)["num_decks"]
    3
    """
    if not isinstance(name, str) or name not in PRESETS:
        hint = " (a preset with overrides is read by parse_rules)" if ":" in str(name) else ""
        raise InvalidRules(f"unknown preset {name!r}: choose one of {', '.join(PRESETS)}{hint}")
    chosen = PRESETS[name]
    options: dict[str, Any] = dict(chosen.options)
    if isinstance(players, int):
        if chosen.players and not chosen.players[0] <= players <= chosen.players[1]:
            low, high = chosen.players
            raise InvalidRules(f"num_players={players}: the preset {name} is played by {low} to {high}")
        options.update(chosen.adjust(players) if chosen.adjust else {})
    return options
