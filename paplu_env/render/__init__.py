"""Views made visible: `ansi` writes them as text, `pixels` draws a picture, `window` shows one."""
