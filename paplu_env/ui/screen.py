"""What a person at the table reads: the hand in its best arrangement, the pile, the stakes, the solver's advice."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, TextIO

import numpy as np

from paplu_env import melds
from paplu_env.cards import NUM_FACES, PRINTED_JOKER, SUIT_SYMBOLS, faces_of, format_card, is_wild
from paplu_env.engine.log import log_face, log_seat
from paplu_env.engine.piles import open_card_of_view
from paplu_env.engine.state import DRAW, NONE, STATUS_NAMES, Views
from paplu_env.engine.unseen_cards import unseen
from paplu_env.errors import PapluError
from paplu_env.rules import RuleSet

if TYPE_CHECKING:
    from rich.text import Text

    from paplu_env.bots.explanation import Candidate

_PILE_SHOWN: Final = 8  # cards of the open pile that fit beside its top on a narrow terminal
_ADVISED: Final = 5  # discards that advice ranks
_CANDIDATES: Final = 3  # actions of the bot's that advice shows
_NARROWEST: Final = 20  # columns; below, a line would hold a letter or nothing
_USUAL: Final = 80  # columns of a terminal that doesn't know
# Suit colours that can be told apart on light and dark terminals alike; hearts and diamonds are red.
_STYLES: Final = ("bold cyan", "bold red", "bold red", "bold cyan")


class Screen:
    """Writes to a terminal or a file; colours only where the stream is a terminal and NO_COLOR isn't set.

    Raises:
        PapluError: the extra ``play`` isn't installed.
    """

    def __init__(self, stream: TextIO, *, width: int | None = None) -> None:
        try:
            from rich.console import Console
        except ImportError:
            raise PapluError('playing in the terminal needs rich: pip install "paplu-env[play]"') from None
        self._console = Console(file=stream, highlight=False, width=width)
        if self._console.width < _NARROWEST:  # a terminal may say that it has no columns at all
            self._console.width = _NARROWEST if self._console.width > 0 else _USUAL
        self._has_symbols = "utf" in (getattr(stream, "encoding", None) or "utf-8").lower()

    def line(self, text: str = "") -> None:
        self._console.print(text, markup=False)

    def title(self, text: str) -> None:
        self._console.rule(text)

    def warning(self, text: str) -> None:
        self._console.print(text, style="yellow", markup=False)

    def table(self, view: np.void, rules: RuleSet, names: Sequence[str]) -> None:
        """Everything that the view's seat may know and would look at before it moves."""
        wild, seat = int(view["wild"]), int(view["seat"])
        self.line()
        self._row(
            "indicator", self._cards([int(view["indicator"])], wild), f"   closed stock {int(view['stock_size'])}"
        )
        for other, name in enumerate(names):
            if other != seat:
                self._opponent(view, other, name)
        size = int(view["pile_size"])
        pile = [int(face) for face in view["pile"][:size]][::-1]
        below = [" under it: ", self._cards(pile[1 : 1 + _PILE_SHOWN], wild)] if size > 1 else []
        more = " …" if size > 1 + _PILE_SHOWN else ""
        self._row("open card", self._cards(pile[:1], wild) if pile else "none", *below, more)
        self._hand(view, rules)

    def _opponent(self, view: np.void, other: int, name: str) -> None:
        wild = int(view["wild"])
        if view["status"][other]:
            self._row(name, STATUS_NAMES[int(view["status"][other])])
            return
        entries = [int(entry) for entry in view["log"][: int(view["log_size"])]]
        thrown = [log_face(entry) for entry in entries if log_seat(entry) == other and log_face(entry) < NUM_FACES]
        took = faces_of(view["known"][other])
        parts: list[Any] = (
            ["took and holds ", self._cards(took, wild)] if took else ["took nothing that it still holds"]
        )
        if thrown:
            parts += ["; threw ", self._cards(thrown[-_PILE_SHOWN:], wild)]
        self._row(name, *parts)

    def _hand(self, view: np.void, rules: RuleSet) -> None:
        """The own hand in its best arrangement, and what is at stake."""
        wild = int(view["wild"])
        hand = np.array(view["hand"])
        arrangement = melds.arrange(hand, wild, rules)
        parts: list[Any] = []
        for meld in arrangement.melds:
            parts += [" [", self._cards(meld.faces, wild), "]"]
        if arrangement.leftovers:
            parts += ["  ", self._cards(arrangement.leftovers, wild)]
        self._row("your hand", *parts)
        drawn = int(view["drawn"])
        if drawn != NONE:
            verb = "drew" if int(view["taken"]) == NONE else "took"
            self._row("", f"you {verb} ", self._cards([drawn], wild))
        distance = melds.distance(hand, wild, rules)
        stake = f"{melds.points(hand, wild, rules)} points if the deal ended now"
        self._row("", f"{distance} card{'' if distance == 1 else 's'} from complete; {stake}")

    def advice(self, views: Views, rules: RuleSet) -> None:
        """The solver's numbers for the choices of ``views[0]``: distance, live outs by unseen copies, points."""
        view = views[0]
        wild = int(view["wild"])
        hand = np.array(view["hand"])
        left = unseen(views, 0, rules)
        if int(view["phase"]) == DRAW:
            outs = melds.outs(hand, wild, left, rules)
            helping = [face for face in range(NUM_FACES) if outs[face]]
            self._row(
                "closer with", self._cards(helping, wild) if helping else "none", f"   {outs.sum()} unseen copies"
            )
            if int(view["pile_size"]):
                self._advise_open_card(view, hand, rules)
            return
        ranked = []
        for face in np.flatnonzero(hand).tolist():
            rest = hand.copy()
            rest[face] -= 1
            distance = melds.distance(rest, wild, rules)
            live = int(melds.outs(rest, wild, left, rules).sum())
            ranked.append((distance, -live, melds.points(rest, wild, rules), face))
        for distance, live, points, face in sorted(ranked)[:_ADVISED]:
            text = f"  {distance} from complete, {-live} unseen copies, {points} points if lost"
            self._row("", "without ", self._cards([face], wild), text)

    def candidates(self, name: str, candidates: Sequence[Candidate]) -> None:
        """What a bot would do in this place, from what the person sees too, with its reasons."""
        for place, candidate in enumerate(candidates[:_CANDIDATES]):
            self._row("" if place else f"{name} would", str(candidate))

    def _advise_open_card(self, view: np.void, hand: np.ndarray[Any, np.dtype[np.uint8]], rules: RuleSet) -> None:
        wild = int(view["wild"])
        face = open_card_of_view(view)
        taken = hand.copy()
        taken[face] += 1
        before, after = melds.distance(hand, wild, rules), melds.distance(taken, wild, rules)
        self._row(
            "open card", self._cards([face], wild), f"  {'brings you closer' if after < before else 'does not help'}"
        )

    def _row(self, label: str, *parts: Any) -> None:
        """One labelled line made of texts and card texts."""
        from rich.text import Text

        row = Text()
        row.append(f"{label:>12}  ", style="dim")
        for part in parts:
            row.append(part) if isinstance(part, str) else row.append_text(part)
        self._console.print(row, soft_wrap=False)

    def _cards(self, faces: Iterable[int], wild: int) -> Text:
        """Cards in suit colours; wild ones carry an asterisk."""
        from rich.text import Text

        text = Text()
        for place, face in enumerate(faces):
            text.append(" " if place else "")
            if face == PRINTED_JOKER:
                text.append("PJ*", style="bold magenta")
                continue
            card = format_card(face)
            shown = SUIT_SYMBOLS[face // 13] if self._has_symbols else card[1]
            mark = "*" if is_wild(face, wild) else ""
            text.append(card[0] + shown + mark, style=_STYLES[face // 13])
        return text
