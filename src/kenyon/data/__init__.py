"""Data sets, streams, backbones, large files, and the protocol between a stream and a learner."""
