"""What `search` would win if it were shown its opponent's cards."""
