"""One slower search for every question and every option of a table."""
