"""The one published table of agents, played again, and what moves the figures that differ."""
