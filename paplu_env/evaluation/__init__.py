"""How strong a policy is: matches and tournaments on duplicate deals, with intervals, ratings and reports."""

from paplu_env.evaluation.games import Decisions, play_games
from paplu_env.evaluation.match import play_match
from paplu_env.evaluation.ratings import PairScores, Ratings, bradley_terry, rate
from paplu_env.evaluation.recording import Recording, read_recording, read_recordings
from paplu_env.evaluation.report.write import write_reports
from paplu_env.evaluation.result import MatchResult, summarise
from paplu_env.evaluation.schedule import Published, Schedule, read_schedule
from paplu_env.evaluation.tournament import TournamentResult, run_tournament

__all__ = [
    "Decisions",
    "MatchResult",
    "PairScores",
    "Published",
    "Ratings",
    "Recording",
    "Schedule",
    "TournamentResult",
    "bradley_terry",
    "play_games",
    "play_match",
    "rate",
    "read_recording",
    "read_recordings",
    "read_schedule",
    "run_tournament",
    "summarise",
    "write_reports",
]
