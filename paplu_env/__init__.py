"""Reinforcement learning for Indian Rummy: rules engine, environments, agents and evaluation."""

__version__ = "0.1.0"
