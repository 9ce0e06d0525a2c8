"""Hostile files by the thousand, made from a seed: `python -m fuzz --help`.

A target (`target.py`) makes files of one kind, damages them, reads them and says what came of it: they were refused by
a named error, or what was read is what the file says. Anything else is a failure: another exception, another content,
a crash, a hang, memory beyond reason. Case 17 of seed 3 is the same on every machine.
"""
