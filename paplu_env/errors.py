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
    """An action that can be read but may not be done now; the game is left as it was."""


class InvalidFile(PapluError):
    """A file that is truncated, foreign, or of another version."""


class PolicyMismatch(PapluError):
    """A policy used with an encoding, a number of features or rules other than its own."""
