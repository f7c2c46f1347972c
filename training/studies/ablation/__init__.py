"""What each part of the training recipe brings."""
