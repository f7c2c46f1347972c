"""Options as text, there and back: ``preset:option=value,option=value``."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from paplu_env.errors import InvalidRules
from paplu_env.rules.presets import PRESETS, preset_options


def parse_options(text: str, words: Container[str]) -> tuple[str, dict[str, Any]]:
    """The preset that a rules string names, and the options that it gives other values.

    Args:
        words: options whose values are words, where ``none`` is one of them.

    Raises:
        InvalidRules: the text doesn't follow this form.
    """
    name, _, rest = text.strip().partition(":")
    overrides: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in rest.split(","))):
        option, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not value:
            raise InvalidRules(f"cannot read {part!r} in {text!r}: write preset:option=value,option=value")
        if option in overrides:
            raise InvalidRules(f"{option} is given twice in {text!r}")
        overrides[option] = _parse_value(value, option in words)
    return name, overrides


def format_options(options: Mapping[str, Any], defaults: Mapping[str, Any]) -> str:
    """The shortest rules string that names these options.

    Args:
        options, defaults: all options of a table, and of the default one.
    """
    texts = []
    for name in PRESETS:
        try:
            base = {**defaults, **preset_options(name, options["num_players"])}
        except InvalidRules:
            continue
        base["num_players"] = 2  # what a preset is played by unless told
        changes = [f"{option}={_format_value(value)}" for option, value in options.items() if value != base[option]]
        texts.append((len(changes), name + (":" + ",".join(changes) if changes else "")))
    return min(texts, key=lambda text: text[0])[1]


def _parse_value(text: str, is_word: bool) -> Any:
    """A bool, None, whole number or word as written in a rules string."""
    word = text.lower()
    if word in ("true", "false"):
        return word == "true"
    if word == "none" and not is_word:
        return None
    try:
        return int(text)
    except ValueError:
        return text


def _format_value(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) or value is None else str(value)
