"""What every environment is a face of: batches of deals, learners' seats, opponents, rewards, seeds and infos."""
