"""The errors that callers may want to catch: each names one kind of bad input."""


class PapluError(ValueError):
    """Parent of every error that this package raises for bad input."""


class InvalidNotation(PapluError):
    """A text that cannot be read as cards, groups, actions or a position."""


class InvalidHand(PapluError):
    """Cards that can be read but cannot be held: a wrong number, or more copies than the packs have."""


class InvalidRules(PapluError):
    """An unknown preset or option, a value out of range, or options that contradict each other."""


class IllegalAction(PapluError):
    """An action that can be read but may not be done now; the game is left as it was.

    The message says no more than the seat to move may know.

    Attributes:
        position: the whole position as a line that `engine.parse_position` reads, hidden cards and seed included. Only
            the engine sets it, for whoever holds the state; what plays for a seat takes it off before it raises
            (`without_position`).
    """

    position: str | None = None


def without_position(error: IllegalAction) -> IllegalAction:
    """The same error for a seat's side: nothing about it tells a hidden card."""
    vars(error).pop("position", None)
    return error


class InvalidFile(PapluError):
    """A file that is truncated, foreign, or of another version."""


class PolicyMismatch(PapluError):
    """A policy used with an encoding, a number of features or rules other than its own."""
