"""The examples of the documentation run, and a page whose example does not is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md")))
FENCE = "```"


def run(page: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, ROOT / "tools/examples.py", page], capture_output=True, text=True)


def has_examples(page: Path) -> bool:
    return f"{FENCE}python\n" in (text := page.read_text(encoding="utf-8")) or f"{FENCE}sh\n" in text


@pytest.mark.slow
@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in PAGES if has_examples(page)])
def test_every_example_of_the_documentation_runs(page: Path) -> None:
    done = run(page)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "page, message",
    [
        ("~~~python\nvalue = 1\n~~~\ntext\n~~~python\nassert value == 2\n~~~", "line 5"),
        ("~~~sh\nfalse\ntrue\n~~~", "exit code 1"),
        ("~~~python\nprint(1)\n~~~\n\n~~~text\n2\n~~~", "this was printed"),
        ("~~~sh no-run\nrm nothing\n~~~", "needs a reason"),
    ],
    ids=["python", "shell", "output", "no reason"],
)
def test_an_example_that_fails_is_named(page: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text(page.replace("~~~", FENCE))
    done = run(tmp_path / "page.md")
    assert done.returncode == 1
    assert message in done.stderr


def test_a_page_runs_from_top_to_bottom_in_a_folder_of_its_own(tmp_path: Path) -> None:
    page = """
~~~toml title="numbers.toml"
one = 1
~~~
~~~python title="mine.py"
NAME = "numbers.toml"
~~~
~~~python
import tomllib, mine
value = tomllib.load(open(mine.NAME, "rb"))
~~~
~~~python
print(value, "in", 0.123, "s")
~~~
~~~text
{'one': 1} in ... s
~~~
~~~sh
cat numbers.toml
~~~

~~~text
one = 1
~~~
~~~sh no-run: it would fail
false
~~~
"""
    (tmp_path / "page.md").write_text(page.replace("~~~", FENCE))
    done = run(tmp_path / "page.md")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("3 examples\n")
    assert [path.name for path in tmp_path.iterdir()] == ["page.md"]
