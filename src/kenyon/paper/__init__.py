"""The paper: its numbers, transfer between data sets, and the reproduction of its tables and figures."""
