"""People at the table: `play` asks for moves in a terminal, `screen` shows what may be known, `table` deals."""
