"""Views as something to look at; each form is a module of its own: `ansi` is text."""
