"""What the paper reports, as data: one TOML file for each of its tables, and one for the captions of its figures.

Madireddy, Yanguas-Gil and Balaprakash, "Neuromodulated Neural Architectures with Local Error Signals for
Memory-Constrained Online Continual Learning", 2021. All of its configurations were selected on the test set.
"""

from kenyon.paper.tables._tables import (
    PaperRow,
    PaperTable,
    figure_source,
    paper_accuracy,
    paper_dimension,
    paper_distances,
    paper_table,
    table_names,
)

__all__ = [
    "PaperRow",
    "PaperTable",
    "figure_source",
    "paper_accuracy",
    "paper_dimension",
    "paper_distances",
    "paper_table",
    "table_names",
]
