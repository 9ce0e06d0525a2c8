"""Experiments: run, sweep, search, compare, watch, plot and report."""
