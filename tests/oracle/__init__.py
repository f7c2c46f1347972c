"""A slow, literal second opinion on hands: subsets of cards by definition, no code of `paplu_env`."""
