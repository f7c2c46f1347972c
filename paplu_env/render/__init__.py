"""Views as something to look at, a module for each form: `ansi` text, `pixels` a picture, `window` shows one."""
