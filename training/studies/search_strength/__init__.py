"""How strong `search` is by its budget."""
