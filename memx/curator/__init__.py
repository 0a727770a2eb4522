"""Decide whether two lessons are one, contradict each other, or have nothing to do with each other."""
