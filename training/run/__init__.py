"""A run of training: its loop and its folder on disk, and what is made of it: policy files, matches, pages."""
