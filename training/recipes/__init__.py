"""One short program per learning library, each as that library's own examples are written."""
