"""Deals against a bot in the terminal: what a seat may see, what it may do, and what the solver says if asked."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable

import numpy as np

from paplu_env import engine
from paplu_env.bots import Policy
from paplu_env.cards import NUM_FACES, format_card, parse_card
from paplu_env.engine import DECLARE_BASE, DISCARD_BASE
from paplu_env.engine.chance import policy_seed_of
from paplu_env.engine.record import RECORD_FORMAT
from paplu_env.engine.state import DRAW
from paplu_env.errors import InvalidNotation, PapluError
from paplu_env.files import check_target, is_stream, json_of
from paplu_env.render.words import ending_words, log_words, seat_names, shown_words
from paplu_env.rules import RuleSet
from paplu_env.ui.screen import Screen
from paplu_env.ui.table import Table

HELP = """\
draw (d)  draw from the closed stock    7H          throw that card
take (t)  take the open card            declare 7H  finish with that card thrown
drop (x)  give up for the points shown  announce    a hand dealt complete
?         what the solver says          log         all that happened
help (h)  these words                   quit (q)    leave the table"""

_SHORT = {"d": "draw", "t": "take", "x": "drop", "q": "quit", "h": "help"}


class Quit(Exception):
    """The person left the table."""


def play_deals(
    bot: Policy,
    rules: RuleSet,
    *,
    seed: int,
    deals: int = 1,
    seat: int = 0,
    save: str | None = None,
    is_watching: bool = False,
    ask: Callable[[str], str] | None = None,
    screen: Screen | None = None,
    policy_seed: int | None = None,
    force: bool = False,
) -> list[int]:
    """Play deals with one person and the bot at all other seats; seeds are ``seed``, ``seed + 1``, …

    Args:
        seat: of the person; seat 0 begins the first deal, the next seat the next.
        save: path for a record of the last deal; its folder must exist, and a file there must be a record.
        is_watching: the bot plays the person's seat too.
        ask: reads one line for a prompt, from the terminal by default; `EOFError` leaves the table.
        screen: where to write, the terminal by default.
        policy_seed: of the bot's chance; made of ``seed`` if not given, see `engine.chance.policy_seed_of`.
        force: write the record over any file.

    Returns:
        Points of the person in each finished deal.

    Raises:
        PapluError: the record could not be written, or would overwrite something else; nothing has been dealt then.
    """
    if save:
        check_target(save, json_of("format", RECORD_FORMAT), force)
    screen = screen or Screen(sys.stdout)
    ask = ask or _read_line
    results: list[int] = []
    chance = policy_seed_of(seed) if policy_seed is None else policy_seed
    for number in range(deals):
        players: list[Policy | None] = [bot] * rules.num_players
        if not is_watching:
            players[seat] = None
        table = Table(rules, (seed + number) % 2**64, players, number % rules.num_players, chance, number)
        names = seat_names(rules.num_players, seat, bot.name)
        screen.title(f"deal {number + 1} of {deals}: seed {table.seed}, {rules}; you are seat {seat}")
        try:
            _play_deal(table, seat, names, screen, ask)
        except (Quit, EOFError, KeyboardInterrupt):
            screen.line("\nYou left the table; the deal is not counted.")
            break
        finally:
            if save and not is_stream(save):  # after each deal, so that no later one can lose it
                engine.save_record(table.record(), save)
        results.append(int(table.view(seat)[0]["returns"][seat]))
    if save and deals and is_stream(save):
        engine.save_record(table.record(), save)
    if len(results) > 1:
        screen.line(f"{len(results)} deals: {sum(results):+d} points for you")
    if save:
        screen.line(f"record: {save}   ({shlex.join(['paplu', 'replay', save])})")
    return results


def _read_line(prompt: str) -> str:
    """One line from standard input, shown after its prompt where no terminal has done so."""
    if sys.stdin is None:  # closed by whoever started the command
        raise EOFError
    words = input(prompt)
    if not sys.stdin.isatty():
        print(words)
    return words


def _play_deal(table: Table, seat: int, names: list[str], screen: Screen, ask: Callable[[str], str]) -> None:
    """One deal, from the first look at the hand to the open hands at its end."""
    told = 0
    view = table.view(seat)[0]
    if table.players[seat] is not None:
        screen.table(view, table.rules, names)
    while True:
        table.play_policies()
        view = table.view(seat)[0]
        for sentence in log_words(view, names, since=told):
            screen.line("· " + sentence)
        told = int(view["log_size"])
        if table.is_over:
            break
        screen.table(view, table.rules, names)
        if int(view["phase"]) != DRAW:
            told -= 1  # the entry of this turn gets its discard with the action to come
        _ask_until_legal(table, seat, names, screen, ask)
    screen.line("")
    screen.line(ending_words(view := table.view(seat)[0], names))
    for sentence in shown_words(view, names):
        screen.line(sentence)


def _ask_until_legal(table: Table, seat: int, names: list[str], screen: Screen, ask: Callable[[str], str]) -> None:
    """Ask for one action until it is one that may be done, answer questions in between, and do it."""
    while True:
        view = table.view(seat)[0]
        words = ask(_prompt(view, table)).strip()
        lowered = _SHORT.get(words.lower(), words.lower())
        if lowered == "quit":
            raise Quit
        if lowered in ("help", ""):
            screen.line(HELP)
        elif lowered == "?":
            screen.advice(table.view(seat), table.rules)
            for policy in [player for player in table.players if player is not None][:1]:
                screen.candidates(policy.name, policy.explain(table.view(seat), table.action_mask()[None]))
        elif lowered == "log":
            for sentence in log_words(view, names):
                screen.line("· " + sentence)
        else:
            try:
                action = _parse_words(lowered)
                reason = table.why_illegal(action)
                if not reason:
                    table.act(action)
                    return
                screen.warning(f"{engine.format_action(action)}: {reason}")
            except PapluError as error:
                screen.warning(f"{error}  (`help` lists the words)")


def _parse_words(words: str) -> int:
    """An action as people type it: a bare card is a discard."""
    try:
        return DISCARD_BASE + parse_card(words)
    except InvalidNotation:
        return engine.parse_action(words.replace("throw", "discard", 1))


def _prompt(view: np.void, table: Table) -> str:
    """What may be done now, in a few words."""
    mask = table.action_mask()
    if int(view["phase"]) == DRAW:
        cost = table.rules.middle_drop if view["drew"][int(view["seat"])] else table.rules.first_drop
        choices = [("draw", engine.DRAW_CLOSED), ("take", engine.TAKE_OPEN)]
        choices += [(f"drop (−{cost})", engine.DROP), ("announce", engine.ANNOUNCE)]
        return " / ".join(name for name, action in choices if mask[action]) + " > "
    finishes = [format_card(face) for face in range(NUM_FACES) if mask[DECLARE_BASE + face]]
    if finishes and table.rules.wrong_declare == "masked":
        return f"throw a card, or declare {' or '.join(finishes)} > "
    return "throw a card > "
