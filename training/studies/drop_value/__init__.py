"""What a drop is worth, and what a perfect drop rule would win."""
