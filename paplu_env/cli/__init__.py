"""The ``paplu`` command: one file per subcommand, and the arguments that they share."""
