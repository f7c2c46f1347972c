"""Where the time of training goes."""
