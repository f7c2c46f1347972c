"""Checking a declaration as it is laid on the table: groups of cards, and every reason why they don't hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from paplu_env.cards import PRINTED_JOKER, Counts, faces_of, format_card, format_cards, is_wild, parse_card
from paplu_env.melds.groups import (
    PURE_KINDS,
    SEQUENCE_KINDS,
    SPECIAL_DUBLEES,
    SPECIAL_TUNNELAS,
    SPECIAL_WILDS,
    kind_of_group,
    why_no_group,
)
from paplu_env.rules import RuleSet


def check_declaration(
    groups: Sequence[Sequence[str]], wild: int, rules: RuleSet, counts: Counts | None = None
) -> list[str]:
    """Why these groups are no valid declaration (RULES.md 1.11); an empty list means that they are one.

    The groups are judged as laid: a hand that could be laid better is still laid wrongly. A special hand of the
    21-card game is laid as its tunnelas, its dublees or its wild cards; the rest may lie in any way or not at all.

    Args:
        groups: the groups, each a list of cards in notation.
        wild: bitmask of wild faces, see ``cards.wild_of_rank``.
        counts: the hand without its finish card, ``(53,)``; the groups then have to lay exactly these cards.

    Returns:
        Sentences, each naming the group or the card that it is about.

    Raises:
        InvalidNotation: a card that can't be read.

    >>> from paplu_env.cards import wild_of_rank
    >>> check_declaration([["5H", "6H", "7S"], ["KS", "KH", "KD", "KC"]], wild_of_rank(-1), RuleSet())[0]
    'group 1 (5H 6H 7S) is of more than one suit and of more than one rank (7S 5H 6H)'
    """
    laid = [[parse_card(card) for card in group] for group in groups]
    cards = Counter(face for group in laid for face in group)
    if rules.special_hands and _is_special(laid, wild):
        return _wrong_cards(cards, rules, counts, lays_all=False)
    kinds = [kind_of_group(group, wild, rules) for group in laid]
    reasons = [
        f"group {number} ({format_cards(group)}) {why_no_group(group, wild, rules)}"
        for number, (group, kind) in enumerate(zip(laid, kinds, strict=True), 1)
        if kind is None
    ]
    pure = sum(kind in PURE_KINDS for kind in kinds)
    sequences = sum(kind in SEQUENCE_KINDS for kind in kinds)
    if pure < rules.min_pure_sequences:
        reasons.append(f"{pure} of the groups are pure sequences, {rules.min_pure_sequences} needed")
    if sequences < rules.min_sequences:
        reasons.append(f"{sequences} of the groups are sequences, {rules.min_sequences} needed")
    return reasons + _wrong_cards(cards, rules, counts, lays_all=True)


def _is_special(laid: Sequence[Sequence[int]], wild: int) -> bool:
    """Whether groups as laid show a special hand."""
    alike = [len(group) for group in laid if len(set(group)) == 1 and group[0] != PRINTED_JOKER]
    wilds = sum(len(group) for group in laid if all(is_wild(face, wild) for face in group))
    return alike.count(3) >= SPECIAL_TUNNELAS or alike.count(2) >= SPECIAL_DUBLEES or wilds >= SPECIAL_WILDS


def _wrong_cards(laid: Counter[int], rules: RuleSet, counts: Counts | None, *, lays_all: bool) -> list[str]:
    """What is wrong with the cards of all groups together: their number, their copies, cards not held."""
    reasons = [
        f"{copies} copies of {format_card(face)} are laid, there are {rules.copies(face)}"
        for face, copies in sorted(laid.items())
        if copies > rules.copies(face)
    ]
    if laid.total() > rules.hand_size or (lays_all and laid.total() < rules.hand_size):
        reasons.append(f"{laid.total()} cards are laid, a declaration lays {rules.hand_size}")
    if counts is not None:
        held = Counter(faces_of(counts))
        reasons += [f"{format_card(face)} is laid but not held" for face in sorted((laid - held).elements())]
        missing = held - laid if lays_all else Counter[int]()
        reasons += [f"{format_card(face)} is held but not laid" for face in sorted(missing.elements())]
    return reasons
