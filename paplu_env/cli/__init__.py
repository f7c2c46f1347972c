"""The `paplu` command: `main` finds the subcommand, and each has a file of its name."""
