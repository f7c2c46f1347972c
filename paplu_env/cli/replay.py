"""``paplu replay FILE``: a recorded deal, move by move."""

from __future__ import annotations

import argparse
import dataclasses

from paplu_env import engine
from paplu_env.cards import format_card, format_hand
from paplu_env.cli.options import add_json, print_json, whole_number
from paplu_env.render.words import ending_words, log_words

EXAMPLES = "example:\n  paplu play medium --seed 7 --save deal.json && paplu replay deal.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", help="a record of a deal, as written by `paplu play --save` or `engine.save_record`")
    parser.add_argument(
        "--until", type=whole_number(0), metavar="N", help="stop after N actions and print the position"
    )
    add_json(parser)


def run(options: argparse.Namespace) -> int:
    record = engine.load_record(options.file)
    if options.until is not None:
        record = dataclasses.replace(record, actions=record.actions[: options.until])
    states = engine.final_state(record)
    rules = record.rules
    if options.json:
        print_json(
            {
                "rules": str(rules),
                "actions": [engine.format_action(action) for action in record.actions],
                "position": engine.format_position(states, 0, rules),
                "returns": engine.returns(states, 0).tolist(),
            }
        )
        return 0
    names = [f"seat {seat}" for seat in range(rules.num_players)]
    opening = next(engine.replay(record))
    view = engine.player_view(opening, 0, 0)[0]
    print(f"{rules}, indicator {format_card(int(view['indicator']))}, seat {record.first} has the first turn")
    for seat, name in enumerate(names):
        print(f"{name} is dealt  {format_hand(opening['hands'][0, seat])}")
    print(f"open card    {format_card(int(view['pile'][0]))}\n")
    final = engine.player_view(states, 0, 0)[0]
    for number, sentence in enumerate(log_words(final, names), start=1):
        print(f"{number:4d}  {sentence}")
    print()
    if engine.is_over(states, 0):
        print(ending_words(final, names))
        for seat, name in enumerate(names):
            print(f"{name} holds  {format_hand(states['hands'][0, seat])}")
    else:
        print("The deal is not over. Position:\n" + engine.format_position(states, 0, rules))
    return 0
