"""Queueing models, pure mathematics: arrays in, frozen results out."""
