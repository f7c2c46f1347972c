"""How strong a policy is: matches on duplicate deals, with intervals."""

from paplu_env.evaluation.games import Decisions, play_games
from paplu_env.evaluation.match import play_match
from paplu_env.evaluation.recording import Recording, read_recording, read_recordings
from paplu_env.evaluation.result import MatchResult, summarise

__all__ = [
    "Decisions",
    "MatchResult",
    "Recording",
    "play_games",
    "play_match",
    "read_recording",
    "read_recordings",
    "summarise",
]
