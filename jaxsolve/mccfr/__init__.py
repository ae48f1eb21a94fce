"""Sampled CFR on tables [sequence, bucket]: the work of a pass is what it touches."""
