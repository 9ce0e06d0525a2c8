"""Templates for a learner or a rule of your own: each passes its checks and learns as it is.

>>> sorted(TEMPLATES)
['learner', 'rule', 'torch-learner']
>>> "class LeakyMean:" in template("learner", "leaky_mean")
True
"""

from __future__ import annotations

import re
from importlib.resources import files
from keyword import iskeyword
from pathlib import Path

from kenyon.errors import ConfigError, unknown

__all__ = ["TEMPLATES", "template", "write_template"]

TEMPLATES = {
    "learner": "a learner in NumPy: class means, and the nearest one wins",
    "torch-learner": "a learner around a PyTorch module",
    "rule": "a plasticity rule: one equation",
}
"""The templates by name."""


def template(kind: str, name: str) -> str:
    """The text of a new learner or rule.

    Args:
        kind: a name of `TEMPLATES`.
        name: its name; words are joined to the name of a class.

    Example:
        >>> print(template("rule", "my rule").splitlines()[0])
        \"\"\"A plasticity rule. Check it with `python my_rule.py`, run it with
    """
    if kind not in TEMPLATES:
        raise unknown("kind of template", kind, TEMPLATES)
    file, cls = _names(kind, name)
    text = files(__package__).joinpath(f"{kind.replace('-', '_')}.py.txt").read_text(encoding="utf-8")
    return text.replace("NAME_OF_CLASS", cls).replace("NAME_OF_FILE", file)


def _names(kind: str, name: str) -> tuple[str, str]:
    """The name of the file and that of the class."""
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+", name)
    file, cls = "_".join(words).lower(), "".join(word[0].upper() + word[1:] for word in words)
    if not file.isidentifier() or iskeyword(file):
        raise ConfigError(f"the name is {name!r}: expected words that begin with a letter, such as my_{kind}")
    return file, cls


def write_template(kind: str, name: str, folder: str | Path = ".") -> Path:
    """Write a new learner or rule into a folder, under its own name; a file that is there is left alone.

    Example:
        >>> write_template("rule", "my rule").name
        'my_rule.py'
    """
    text = template(kind, name)
    path = Path(folder) / f"{_names(kind, name)[0]}.py"
    try:
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise ConfigError(f"{path} is there already: expected a name that is not taken") from error
    return path
