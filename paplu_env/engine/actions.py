"""The 110 actions of every table: their ids, and their words both ways."""

from __future__ import annotations

from typing import Final

from paplu_env.cards import NUM_FACES, format_card, parse_card
from paplu_env.errors import InvalidNotation

DRAW_CLOSED: Final = 0  # draw from the closed stock
TAKE_OPEN: Final = 1  # take the open card
DROP: Final = 2  # give up, before drawing
DISCARD_BASE: Final = 3  # + face: throw that face
DECLARE_BASE: Final = DISCARD_BASE + NUM_FACES  # + face: declare, with that face as the finish card
ANNOUNCE: Final = DECLARE_BASE + NUM_FACES  # announce a dealt-complete hand (option hand_rummy)
NUM_ACTIONS: Final = ANNOUNCE + 1

_WORDS: Final = {DRAW_CLOSED: "draw", TAKE_OPEN: "take", DROP: "drop", ANNOUNCE: "announce"}
_IDS: Final = {word: action for action, word in _WORDS.items()}
_CARD_WORDS: Final = {"discard": DISCARD_BASE, "declare": DECLARE_BASE}


def format_action(action: int) -> str:
    """An action in words: ``draw``, ``take``, ``drop``, ``discard 7H``, ``declare 7H``, ``announce``.

    Raises:
        InvalidNotation: there is no such action.

    >>> format_action(DISCARD_BASE + 19)
    'discard 7H'
    """
    if action in _WORDS:
        return _WORDS[action]
    for word, base in _CARD_WORDS.items():
        if base <= action < base + NUM_FACES:
            return f"{word} {format_card(action - base)}"
    raise InvalidNotation(f"there is no action {action}: actions are 0..{NUM_ACTIONS - 1}")


def parse_action(text: str) -> int:
    """The action that a text names, the inverse of `format_action`.

    Raises:
        InvalidNotation: the text names no action.

    >>> parse_action("Declare 7h")
    75
    """
    words = text.lower().split()
    if len(words) == 1 and words[0] in _IDS:
        return _IDS[words[0]]
    if len(words) == 2 and words[0] in _CARD_WORDS:
        return _CARD_WORDS[words[0]] + parse_card(words[1])
    raise InvalidNotation(
        f"cannot read {text!r} as an action: write draw, take, drop, announce, discard CARD or declare CARD"
    )
