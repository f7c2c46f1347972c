"""Matches: duplicate deals, fair seats, figures that add up, and nothing that depends on how they are computed."""

from __future__ import annotations

import json

import numpy as np
import pytest

from paplu_env import engine
from paplu_env.bots import from_callable, make_policy
from paplu_env.bots.policy import Policy
from paplu_env.engine.state import DECLARED, ENDED_BY_DROP, LOWER_DEADWOOD, TRUNCATED, VOID
from paplu_env.errors import IllegalAction, InvalidFile, PapluError, PolicyMismatch
from paplu_env.evaluation import play_games, play_match, summarise
from paplu_env.rules import as_rules


def games_of(a: str, b: str, deals: int, seed: int = 0, rules: str = "points", **options: int) -> np.ndarray:
    return play_games([make_policy(a, rules), make_policy(b, rules)], deals, seed, **{"batch": 64, **options})


class Stubborn(Policy):
    """Draws and throws the drawn card back, for ever: only a limit ends its deals."""

    def _choose(self, views, masks, keys):
        return np.where(views["phase"] == 0, engine.DRAW_CLOSED, engine.DISCARD_BASE + views["drawn"].astype(np.int64))


@pytest.mark.parametrize("name", ["mindist_opp", "minscore", "random", "easy-1"])
def test_a_match_of_a_bot_with_itself_is_exactly_even(name):
    result = play_match(name, name, deals=40, seed=3, rules="points:max_turns=60")
    assert result.points_per_deal == 0.0
    assert result.points_interval == (0.0, 0.0)
    assert result.wins[0] == result.wins[1]


def test_the_interval_of_two_equal_bots_holds_even_in_95_of_100_matches():
    class Twin(Policy):
        """The easy tier with luck of its own: equally strong, and no copy of the other's moves."""

        def _choose(self, views, masks, keys):
            return make_policy("easy-1").act(views, masks, keys ^ np.uint64(1 << 40))

    twin = Twin("twin", "points")
    results = [play_match("easy-1", twin, deals=15, seed=seed) for seed in range(100)]
    held = sum(result.points_interval[0] <= 0 <= result.points_interval[1] for result in results)
    assert 89 <= held <= 99
    shares = sum(result.win_rate_interval[0] <= 0.5 <= result.win_rate_interval[1] for result in results)
    assert shares >= 89


def test_each_deal_is_played_once_per_rotation_with_the_same_cards():
    rules = as_rules("points:drop_allowed=false")
    dealt: list[tuple[int, bytes]] = []

    def watch(policy: Policy, player: int) -> Policy:
        class Watch(Policy):
            def _choose(self, views, masks, keys):
                first_turns = views["draws"] + views["phase"] == 0
                dealt.extend((player, view["hand"].tobytes()) for view in views[first_turns])
                return policy.act(views, masks, keys)

        return Watch(f"watch {player}", rules)

    policies = [watch(make_policy("mindist", rules), player) for player in (0, 1)]
    games = play_games(policies, deals=12, seed=8, batch=64)
    hands = [sorted(hand for owner, hand in dealt if owner == player) for player in (0, 1)]
    assert hands[0] == hands[1]
    assert games["deal"].tolist() == [[deal, deal] for deal in range(12)]
    assert games["rotation"].tolist() == [[0, 1]] * 12
    assert (games["first"].sum(axis=1) == 1).all(), "each player has the first turn once"


def test_results_do_not_depend_on_batch_or_threads():
    expected = games_of("mindist_opp", "random", deals=30, seed=11)
    for options in ({"batch": 1}, {"batch": 7}, {"batch": 1000}, {"batch": 8, "threads": 3}):
        assert games_of("mindist_opp", "random", deals=30, seed=11, **options).tobytes() == expected.tobytes()


def test_a_longer_match_begins_with_the_deals_of_a_shorter_one_and_another_seed_has_others():
    short = games_of("mindist", "minscore", deals=10, seed=2)
    assert games_of("mindist", "minscore", deals=25, seed=2)[:10].tobytes() == short.tobytes()
    assert games_of("mindist", "minscore", deals=10, seed=3)["returns"].tobytes() != short["returns"].tobytes()


def test_global_generators_have_no_part_in_a_match():
    import random

    random.seed(1)
    np.random.seed(1)  # noqa: NPY002 - it is the global one that is tested
    before = games_of("random", "easy-1", deals=6, seed=4)
    random.seed(2)
    np.random.seed(2)  # noqa: NPY002
    assert games_of("random", "easy-1", deals=6, seed=4).tobytes() == before.tobytes()


@pytest.mark.parametrize("rules", ["points", "saha2025", "points:num_players=4", "one_pack"])
def test_figures_add_up(rules):
    table = as_rules(rules)
    policies = [make_policy("mindist_opp", table)] + [make_policy("minscore", table)] * (table.num_players - 1)
    games = play_games(policies, deals=24, seed=6, batch=64)
    result = summarise(games, [policy.name for policy in policies], rules, 6)
    assert (games["returns"].sum(axis=-1) == 0).all()
    assert result.games == 24 * table.num_players
    assert result.win_rate == result.wins[0] / result.games
    ends = sum(result.declares) + result.voids + result.truncations + result.lower_deadwood
    assert ends + int((games["ending"] == ENDED_BY_DROP).sum()) == result.games
    assert result.points_per_deal == pytest.approx(games["returns"][..., 0].mean())
    assert result.win_rate_interval[0] < result.win_rate < result.win_rate_interval[1]
    assert result.points_interval[0] < result.points_per_deal < result.points_interval[1]
    assert result.b == "minscore"
    first_drops = (games["status"][..., 0] == 1).sum(), (games["status"][..., 1:] == 1).sum()
    assert result.first_drops == first_drops


def test_drops_are_counted_for_who_dropped():
    result = play_match("minscore", "mindist", deals=60, seed=1)
    assert result.first_drops[0] > 2 * result.first_drops[1] > 0
    assert result.middle_drops == (0, 0)
    none = play_match("minscore", "mindist", deals=20, seed=1, rules="points:drop_allowed=false")
    assert none.first_drops == (0, 0)
    assert sum(none.declares) == 40


@pytest.mark.parametrize(
    ("rules", "ending"),
    [
        ("points:max_turns=40", TRUNCATED),
        ("points:max_turns=40,turn_limit_result=lower_deadwood", LOWER_DEADWOOD),
        ("points", VOID),
        ("saha2025:max_turns=200", LOWER_DEADWOOD),
    ],
)
def test_players_who_never_finish_end_as_the_rules_say(rules, ending):
    policy = Stubborn("stubborn", rules)
    games = play_games([policy, policy], deals=12, seed=0, batch=64)
    # A tie or a complete hand aside, nobody declares: every deal runs into its limit.
    assert (games["ending"] == ending).all()
    result = summarise(games, ["stubborn", "stubborn"], rules, 0)
    counts = {TRUNCATED: result.truncations, VOID: result.voids, LOWER_DEADWOOD: result.lower_deadwood}
    assert counts[ending] == 24
    assert result.loser_points is None
    assert result.declares == (0, 0)
    if ending != LOWER_DEADWOOD:
        assert result.wins == (0, 0)
        assert result.win_rate == 0


def test_whoever_is_better_is_shown_with_an_interval_beyond_even():
    result = play_match("mindist_opp", "random", deals=50, seed=2, rules="points:drop_allowed=false")
    assert result.win_rate_interval[0] > 0.9
    assert result.points_interval[0] > 30
    swapped = play_match("random", "mindist_opp", deals=50, seed=2, rules="points:drop_allowed=false")
    assert swapped.points_per_deal < -30


def test_the_result_is_json_and_a_table():
    result = play_match("mindist_opp", "minscore", deals=10, seed=2)
    read = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert read["points_per_deal"] == result.points_per_deal
    assert read["win_rate_interval"] == list(result.win_rate_interval)
    text = str(result)
    assert "mindist_opp against minscore, points: 10 deals, 20 games, seed 2" in text
    assert f"{100 * result.win_rate:.1f} %" in text
    assert f"{result.points_per_deal:+.2f} [" in text
    columns = {line.index(line[2:].split("  ")[0]) for line in text.splitlines()[1:]}
    assert columns == {2}


def test_progress_counts_games_up_to_all_of_them():
    seen: list[tuple[int, int]] = []
    rules = "points:max_turns=20"
    play_match("random", "random", deals=10, seed=1, rules=rules, batch=8, progress=lambda *now: seen.append(now))
    assert seen == [(8, 20), (16, 20), (20, 20)]


def test_an_illegal_answer_stops_the_match_and_names_the_player():
    class Cheat(Policy):
        def _choose(self, views, masks, keys):
            return np.full(len(views), engine.ANNOUNCE)

    with pytest.raises(IllegalAction, match=r"cheat in deal 0, rotation 0 of the match: .*announce"):
        play_match(Cheat("cheat", "points"), "mindist", deals=4)
    first = from_callable(lambda obs, masks: np.zeros(len(obs), dtype=np.int64), "cards-v1", name="drawer")
    with pytest.raises(IllegalAction, match="drawer"):
        play_match("mindist", first, deals=4, threads=2, batch=2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"deals": 1}, "at least two"),
        ({"deals": 99_999_999_999}, "at most 10000000"),
        ({"seed": -1}, "0..2"),
        ({"batch": 0}, "at least 1"),
        ({"threads": 0}, "at least 1"),
        ({"b": ["minscore", "minscore"]}, "2 opponents for 2 seats"),
        ({"b": "nobody"}, "there is no bot"),
    ],
)
def test_a_match_that_cannot_be_is_refused(options, words):
    with pytest.raises(PapluError, match=words):
        play_match(**{"a": "mindist", "b": "minscore", "deals": 4, **options})


def test_a_policy_of_other_rules_is_refused_before_a_card_is_dealt():
    with pytest.raises(PolicyMismatch, match="one_pack"):
        play_match(make_policy("mindist", "points"), "minscore", deals=4, rules="one_pack")


def test_the_first_player_stands_against_all_others_at_a_larger_table():
    result = play_match("mindist_opp", ["random", "minscore", "random"], deals=6, seed=1, rules="points:num_players=4")
    assert result.games == 24
    assert result.b == "random + minscore"


def test_a_file_that_is_no_policy_is_refused(tmp_path):
    path = tmp_path / "bot.onnx"
    path.write_bytes(b"no network")
    with pytest.raises((InvalidFile, PapluError), match=r"bot\.onnx"):
        play_match(path, "random", deals=2)


def test_declared_games_pay_what_the_loser_held():
    games = games_of("mindist_opp", "mindist", deals=30, seed=9, rules="points:drop_allowed=false")
    result = summarise(games, ["a", "b"], "points", 9)
    paid = [-game["returns"][1 - game["winner"]] for game in games.reshape(-1) if game["ending"] == DECLARED]
    assert result.loser_points == pytest.approx(np.mean(paid))
    assert min(paid) >= 2
    assert max(paid) <= 80
