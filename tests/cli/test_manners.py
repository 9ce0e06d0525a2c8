"""How the command line behaves: one-line errors, exit codes, no folders left behind, completion, templates."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import kenyon as package
from kenyon.cli import app
from kenyon.cli._help import EXAMPLES, GROUPS, OTHERS
from kenyon.cli._run import SCENARIOS
from kenyon.cli.templates import TEMPLATES, template
from kenyon.data.streams import SCENARIOS as KNOWN
from kenyon.data.streams import Curriculum
from kenyon.lab.evaluation import RunConfig, run
from waiting import wait_until

NO_PREDICT = "class NoPredict:\n    batch_size = 1\n    def __init__(self, info, seed, rate: float = 0.1): ...\n"
NO_SEED = "from evaluation.tiny import Tiny\nclass NoSeed(Tiny):\n    def __init__(self, info): ...\n"
NO_BYTES = "from evaluation.tiny import Tiny\nclass NoBytes(Tiny):\n    state_bytes = property()\n"


def kenyon(*args: str) -> Result:
    return CliRunner().invoke(app, list(args))


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "kenyon.cli", *args]


def surroundings(**more: str) -> dict[str, str]:
    return os.environ | more


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--set", "layer__learning_rate=abc"], "learning_rate is 'abc'"),
        (["--set", "hidden__widths=100"], "widths is 100"),
        (["--set", "layer__decay=-1"], "decay is -1"),
        (["--set", "n_hidden=0"], "n_hidden is 0"),
        (["--set", "n_hiden=3"], "did you mean 'n_hidden'"),
        (["--learner", "ncm", "--set", "metric=3"], "metric of the learner 'ncm' is 3: expected a text"),
        (["--learner", "ncm", "--set", "batch_size=1.5"], "expected an integer"),
        (["--learner", "ncm", "--device", "cuda"], "does not use PyTorch"),
        (["--learner", "no.py:NoPredict"], "has no learn, test_then_learn, predict"),
        (["--learner", "no_seed.py:NoSeed"], r"cannot be called as NoSeed(info, seed)"),
        (["--learner", "no_bytes.py:NoBytes"], "has no state_bytes"),
        (["--learner", "absent.py:Absent"], "there is no file 'absent.py'"),
        (["--scenario", "class-incr"], "did you mean 'class-incremental'"),
        (["--preset", "split-mnist-2kb"], "did you mean 'split-mnist-20kb'"),
        (["--dataset", "absent.csv"], "absent.csv"),
        (["--log", "nothing"], "unknown log"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in (("no", NO_PREDICT), ("no_seed", NO_SEED), ("no_bytes", NO_BYTES)):
        Path(f"{name}.py").write_text(text)
    result = kenyon("run", "--max-per-task", "20", "--seeds", "1", "--out", "runs", *args)
    assert result.exit_code in (1, 2), result.stderr
    assert isinstance(result.exception, SystemExit), "an exception got out"
    assert words in result.stderr and len(result.stderr.strip().splitlines()) == 1
    assert not Path("runs").exists()


@pytest.mark.parametrize(("option", "value"), [("lr", "abc"), ("hidden", "abc"), ("threads", "x"), ("hidden", "[1.5]")])
def test_options_of_pytorch_learners_are_checked_too(tmp_path: Path, option: str, value: str) -> None:
    pytest.importorskip("torch", reason="needs the extra 'baselines'")
    result = kenyon("run", "--learner", "er", "--set", f"{option}={value}", "--out", str(tmp_path / "runs"))
    assert (
        result.exit_code == 2
        and f"{option} of the learner 'er' is " in result.stderr
        and not (tmp_path / "runs").exists()
    )


def test_a_learner_that_is_stopped_exits_with_130(tmp_path: Path) -> None:
    args = ["run", "--learner", "evaluation.tiny:Tiny", "--seeds", "1"]
    with subprocess.Popen(
        command(*args),
        cwd=tmp_path,
        env=surroundings(TINY_GATE=str(tmp_path / "gate")),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # ignored by what runs behind "&"
    ) as process:
        try:
            wait_until(lambda: list(tmp_path.glob("gate-*")), process)
            process.send_signal(signal.SIGINT)
            _, said = process.communicate()
        finally:
            process.kill()
    assert process.returncode == 130
    assert "continues from the last checkpoint" in said and "Traceback" not in said


@pytest.mark.slow
def test_a_closed_pipe_is_silent(tmp_path: Path) -> None:
    run(RunConfig("digits", "ncm", Curriculum(max_per_task=20)), [0], tmp_path)
    for args in (["show", str(tmp_path)], ["show", str(tmp_path), "--csv"], ["learners"]):
        reader, writer = os.pipe()
        os.close(reader)
        done = subprocess.run(command(*args), stdout=writer, stderr=subprocess.PIPE, text=True)
        os.close(writer)
        assert (done.returncode, done.stderr) == (141, ""), args


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("kenyon run --scenario task-", "task-free"),
        ("kenyon run --learner der", "der++"),
        ("kenyon run --rule me", "mean"),
        ("kenyon run --preset split-mnist-2", "split-mnist-20kb"),
        ("kenyon run --features wi", "windows"),
        ("kenyon run --dataset fash", "fashion-mnist"),
        ("kenyon show --sort forg", "forgetting"),
        ("kenyon swe", "sweep"),
    ],
)
def test_a_shell_completes_names(words: str, expected: str) -> None:
    here = {"_KENYON_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = CliRunner().invoke(app, env=here, prog_name="kenyon")
    assert expected in done.stdout.split(), done.stderr


def test_the_bare_command_says_what_to_do_first() -> None:
    shown = kenyon()
    assert shown.exit_code == 0 and "kenyon teach" in shown.stdout
    assert all(len(line) <= 80 for line in shown.stdout.splitlines())


def test_help_has_every_command_in_a_group() -> None:
    shown = kenyon("--help").stdout
    assert all(f"{title}:" in shown for title in GROUPS) and f"{OTHERS}:" not in shown


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_help_fits_on_a_screen_and_ends_in_examples(name: str) -> None:
    lines = kenyon(name, "--help").stdout.rstrip().splitlines()
    assert len(lines) <= 24 and lines[-1].strip() == EXAMPLES[name][-1] and all(len(line) <= 80 for line in lines)


def test_help_all_explains_every_option() -> None:
    short, whole = kenyon("run", "--help").stdout, kenyon("run", "--help-all").stdout
    assert "Passes over each task" in whole and "Passes over each task" not in short and "--epochs" in short


def test_help_lists_every_scenario() -> None:
    assert set(SCENARIOS) == set(KNOWN)
    shown = kenyon("run", "--help-all").stdout
    joined = "".join(shown.replace("│", " ").split())
    assert all(scenario in joined for scenario in SCENARIOS)
    assert "--install-completion" in kenyon("--help").stdout


def test_every_option_of_our_learner_is_explained() -> None:
    lines = kenyon("learners", "kenyon").stdout.splitlines()
    table = lines[[line.startswith("option") for line in lines].index(True) + 1 :]
    assert len(table) > 20 and all(len(line.split()) >= 4 for line in table)


def test_a_preset_is_a_beginning(tmp_path: Path) -> None:
    args = ["--dataset", "digits", "--max-per-task", "20", "--seeds", "1", "--out", str(tmp_path), "--n-hidden", "60"]
    result = kenyon("run", "--preset", "split-mnist-20kb", *args)
    assert result.exit_code == 0, result.stderr
    (config,) = tmp_path.glob("*/config.toml")
    text = config.read_text()
    assert "n_hidden = 60" in text and 'scenario = "class-incremental"' in text and 'dataset = "digits"' in text


def test_dir_shows_the_public_names() -> None:
    assert {"KenyonClassifier", "__version__"} <= set(dir(package))


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(TEMPLATES))
def test_a_template_passes_its_checks_and_learns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    if kind == "torch-learner":
        pytest.importorskip("torch", reason="needs the extra 'baselines'")
    monkeypatch.chdir(tmp_path)
    made = kenyon("new", kind, "MyIdea")
    assert made.exit_code == 0 and made.stdout.splitlines()[0] == "my_idea.py"
    checked = subprocess.run([sys.executable, "my_idea.py"], capture_output=True, text=True, env=surroundings())
    assert checked.stdout == "MyIdea passes every check\n", checked.stderr
    option = {"rule": ["--rule", "my_idea.py:MyIdea", "--n-hidden", "1000"]}.get(
        kind, ["--learner", "my_idea.py:MyIdea"]
    )
    result = kenyon("run", "--scenario", "single-task", "--seeds", "1", *option)
    assert result.exit_code == 0, result.stderr
    (line,) = [line for line in result.stdout.splitlines() if "mean of tasks" in line]
    assert float(line.split()[-1]) > 70
    again = kenyon("new", kind, "my idea")
    assert again.exit_code == 2 and "is there already" in again.stderr


def test_a_name_for_a_template_has_to_be_one() -> None:
    assert "class LeakyMeanRule(Rule)" in template("rule", "leaky-mean rule")
    for kind, name, words in (
        ("rule", "3", "begin with a letter"),
        ("rul", "x", "did you mean 'rule'"),
        ("rule", "class", "letter"),
    ):
        result = kenyon("new", kind, name)
        assert result.exit_code == 2 and words in result.stderr
