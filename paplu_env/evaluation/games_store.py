"""Finished games in a run folder: one JSON file a chunk, written whole or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import numpy as np

from paplu_env.errors import InvalidFile
from paplu_env.evaluation.games import Games, games_dtype
from paplu_env.files import write_atomically
from paplu_env.reading import read_json

FORMAT: Final = "paplu-games-1"


def write_games(path: Path, games: Games) -> None:
    """Write the games of some deals, ``(deals, P)``; luck that wasn't estimated is left out."""
    columns: dict[str, Any] = {}
    for name in games.dtype.names or ():
        column = games[name].reshape(games.size, -1)
        if not np.isnan(column).any():
            columns[name] = column.tolist() if column.shape[1] > 1 else column[:, 0].tolist()
    about = {"format": FORMAT, "players": games.shape[1], "games": columns}
    write_atomically(path, json.dumps(about, allow_nan=False, separators=(",", ":")).encode())


def read_games(path: Path) -> Games:
    """Read what `write_games` wrote.

    Raises:
        InvalidFile: it can't be read, is truncated, foreign or of another version.
    """
    try:
        about = read_json(path)
        if about.get("format") != FORMAT:
            raise ValueError(f"is of format {about.get('format')!r}, this version reads {FORMAT!r}")
        players, columns = int(about["players"]), about["games"]
        games = np.zeros(len(columns["deal"]), dtype=games_dtype(players))
        games["luck"] = np.nan
        if set(games.dtype.names or ()) - {"luck"} - set(columns):
            raise ValueError("columns are missing")
        for name, values in columns.items():
            games[name] = np.array(values).reshape(games[name].shape)
        return games.reshape(-1, players)
    # Other JSON than ours may fail in any of these ways; MemoryError and OverflowError by its numbers.
    except (ValueError, KeyError, TypeError, AttributeError, MemoryError, OverflowError) as error:
        raise InvalidFile(f"{path}: holds no finished games ({error}); remove it and they are played again") from None
