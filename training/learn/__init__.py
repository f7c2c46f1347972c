"""What learns: the network, the learner, where its decisions come from, and its configuration."""
