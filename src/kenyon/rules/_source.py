"""The C of rules, which `core/rule.h` is included with: written from their Python.

The rules of the package are written when it is built, from their files; user-defined rules by the same functions when
they are used. The build uses it before the package can be imported.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kenyon.rules._as_c import c_body, c_vector_body
from kenyon.rules._expressions import Node, Untranslatable, argument, used_arguments
from kenyon.rules._reading import read_tree

RULES = ("gen", "oja", "mse", "mean")
"""The rules that are compiled into the core; INEL is a window on any of them."""

MOVE = ("rate", "x_e", "x_o", "x_m", "w", "n")
REACH = ("reach", *MOVE[1:])

Reading = Callable[[str, Sequence[Node]], Node | None]
"""Gives a function of a rule as an expression for these arguments, or None where the rule has no such function."""


@dataclass(frozen=True)
class Program:
    """Everything of a rule that is compiled.

    Attributes:
        gated, counted: as the rule declares.
        n_parameters: of `delta` and `readout`.
        n_constants: of `integer_step`.
        move: rate * local * delta, of MOVE and `beta`.
        read: what a synapse counts for, of w, n, units and `beta`; None for its weight.
        step: `integer_step` of z, q, n and `constants`; None where the rule cannot learn weights of few bits.
        limit: of n and top; score: of z and n; None where the rule has none.
        local: whether the learning rate, the window or a parameter depends on the synapse.
        reach: the window of REACH and `beta`; None where it is a number.
    """

    gated: bool
    counted: bool
    n_parameters: int
    n_constants: int
    move: Node
    read: Node | None
    step: Node | None
    limit: Node | None
    score: Node | None
    local: bool
    reach: Node | None = None

    @property
    def integers(self) -> bool:
        """Whether it learns activity in bytes, which takes a constant learning rate."""
        return self.step is not None and not self.local


def program_of(reading: Reading, gated: bool, counted: bool, n_parameters: int, n_constants: int) -> Program:
    """The program of a rule, from its functions: those of `Rule`, `local 0` of the rate, `local 1` of the window,
    `local k` of the other parameters."""
    rate, x_e, x_o, x_m, w, n = (argument(name, "f") for name in MOVE)
    beta = [argument(f"beta[{k}]", "f") for k in range(n_parameters)]
    z, q, count, top = (argument(name, "q") for name in ("z", "q", "n", "top"))
    local, wide, *others = (reading(f"local {k}", [x_e, x_o, x_m, w, n]) for k in range(2 + n_parameters))
    seen = [value if own is None else times(value, own) for value, own in zip(beta, others, strict=True)]
    delta = reading("delta", [x_e, x_o, x_m, w, *([n] if counted else []), *seen])
    if delta is None:
        raise Untranslatable("it has no delta")
    change = times(rate if local is None else times(rate, local), delta)
    read = reading("readout", [w, n, argument("units", "f"), *beta])
    constants = [argument(f"constants[{k}]", "q") for k in range(n_constants)]
    step = reading("integer_step", [z, q, count, *constants])
    limit, score = reading("integer_limit", [count, top]), reading("integer_score", [z, count])
    reach = None if wide is None else times(argument("reach", "f"), wide)
    own = local is not None or reach is not None or any(others)
    return Program(gated, counted, n_parameters, n_constants, change, read, step, limit, score, own, reach)


def times(left: Node, right: Node) -> Node:
    """A product, in float64 unless both are float32."""
    type = "f" if left.type == right.type == "f" else "d"
    return Node(type, "*", (left.cast(type), right.cast(type)))


def c_of(name: str, program: Program) -> str:
    """The C of a rule: its functions, and the templates around them."""
    parts = [c_function("float", f"rule_move_{name}", _floats(*MOVE) + _beta(), program.move, "f")]
    read = argument("w", "f") if program.read is None else program.read
    parts.append(c_function("float", f"rule_read_{name}", _floats("w", "n", "units") + _beta(), read, "f"))
    parts.append(c_vectors(f"rule_moves_{name}", f"rule_move_{name}", MOVE, ("x_o", "x_m", "w", "n"), program.move))
    parts.append(c_vectors(f"rule_reads_{name}", f"rule_read_{name}", ("w", "n", "units"), ("w", "n"), read))
    if program.reach is not None:
        parts.append(c_function("float", f"rule_reach_{name}", _floats(*REACH) + _beta(), program.reach, "f"))
        vectors = ("x_o", "x_m", "w", "n")
        parts.append(c_vectors(f"rule_reaches_{name}", f"rule_reach_{name}", REACH, vectors, program.reach))
    if program.step is not None:
        constants = [("const int64_t *", "constants")]
        parts.append(
            c_function("int64_t", f"rule_step_{name}", _integers("z", "q", "n") + constants, program.step, "q")
        )
        for what, names in (("limit", ("n", "top")), ("score", ("z", "n"))):
            value = getattr(program, what)
            if value is not None:
                parts.append(c_function("int64_t", f"rule_{what}_{name}", _integers(*names), value, "q"))
    facts = {
        "RULE": name,
        "RULE_READS": int(program.read is not None),
        "RULE_REACHES": int(program.reach is not None),
        "RULE_GATED": int(program.gated),
        "RULE_LEVELS": int(program.step is not None),
        "RULE_INTEGERS": int(program.integers),
        "RULE_LIMITED": int(program.limit is not None),
        "RULE_SCORED": int(program.score is not None),
    }
    defined = "\n".join(f"#define {key} {value}" for key, value in facts.items())
    return "\n\n".join([*parts, defined + '\n#include "rule.h"'])


def device_functions_of(program: Program, constants: Sequence[int]) -> list[str]:
    """The integer functions of a rule in C, its constants written into them."""
    known = {f"constants[{k}]": value for k, value in enumerate(constants)}
    more = [("const int64_t *", "constants")]
    wanted = (
        ("step", _integers("z", "q", "n") + more),
        ("limit", _integers("n", "top")),
        ("score", _integers("z", "n")),
    )
    return [
        c_function("int64_t", f"rule_{name}_device", arguments, value.given(known), "q")
        for name, arguments in wanted
        if (value := getattr(program, name)) is not None
    ]


def entries_of(name: str, program: Program) -> list[str]:
    """The lines of the table of entries for a rule."""
    wanted = {"learn": True, "outputs": program.read is not None, "each": program.read is not None}
    wanted |= {"levels": program.step is not None, "integers": program.integers}
    names = [name for name, is_wanted in wanted.items() if is_wanted]
    return [f'{{"{what}_{name}", {what.upper()}_SIGNATURE, entry_{what}_{name}}},' for what in names]


def c_function(result: str, name: str, arguments: Sequence[tuple[str, str]], value: Node, type: str) -> str:
    """One function that returns a value."""
    head = ", ".join(f"{kind}{'' if kind.endswith('*') else ' '}{one}" for kind, one in arguments)
    used = {one.split("[")[0] for one in used_arguments(value)}
    body = [f"UNUSED({one});" for _, one in arguments if one not in used] + c_body(value, type)
    return "\n".join([f"HELPER {result} {name}({head})", "{", *(f"    {line}" for line in body), "}"])


def c_vectors(name: str, one: str, arguments: Sequence[str], vectors: Sequence[str], value: Node) -> str:
    """A function that gives eight values side by side; `one` is that for a single value."""
    head = ", ".join(f"{'kn_f8' if each in vectors else 'float'} {each}" for each in arguments)
    body = c_vector_body(value, vectors)
    if body is None:
        given = ", ".join(f"{each}[lane]" if each in vectors else each for each in arguments)
        loop = [f"    out[lane] = {one}({given}, beta);"]
        body = ["kn_f8 out = {0};", "for (int lane = 0; lane < 8; lane++) {", *loop, "}", "return out;"]
    else:
        used = {each.split("[")[0] for each in used_arguments(value)}
        body = [f"UNUSED({each});" for each in (*arguments, "beta") if each not in used] + body
    return "\n".join(
        [f"KN_INLINE kn_f8 {name}({head}, const float *beta)", "{", *(f"    {line}" for line in body), "}"]
    )


def _floats(*names: str) -> list[tuple[str, str]]:
    return [("float", name) for name in names]


def _integers(*names: str) -> list[tuple[str, str]]:
    return [("int64_t", name) for name in names]


def _beta() -> list[tuple[str, str]]:
    return [("const float *", "beta")]


# ---- the rules of the package, read from their files without importing them


def rules_of_the_package(folder: Path) -> Iterator[tuple[str, Program]]:
    """Each rule of the package by its name in C, alone and with a learning rate over the neuron's count."""
    local = next(one for one in _functions(folder / "utils" / "modulation.py") if one.name == "_one_over_count")
    for name in RULES:
        tree = ast.parse((folder / "rules" / f"_{name}.py").read_text(encoding="utf-8"))
        cls = next(one for one in tree.body if isinstance(one, ast.ClassDef))
        functions = {one.name: one for one in cls.body if isinstance(one, ast.FunctionDef)}
        declared = dict(_declared(cls))
        parameters = [one for one in cls.body if isinstance(one, ast.AnnAssign) and not _is_class_variable(one)]
        n_constants = max(0, len(functions["integer_step"].args.args) - 3) if "integer_step" in functions else 0
        for suffix, rate in (("", None), ("_over_count", local)):
            known = {**functions, **({"local 0": rate} if rate is not None else {})}

            def reading(what: str, arguments: Sequence[Node], known: Mapping[str, Any] = known) -> Node | None:
                return read_tree(known[what], arguments, _standard) if what in known else None

            gated, counted = bool(declared.get("gated")), bool(declared.get("counted"))
            yield name + suffix, program_of(reading, gated, counted, len(parameters), n_constants)


def _standard(name: str) -> Any:
    return getattr(math, name, None) or getattr(__import__("builtins"), name, None)


def _functions(path: Path) -> list[ast.FunctionDef]:
    return [one for one in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(one, ast.FunctionDef)]


def _is_class_variable(one: ast.AnnAssign) -> bool:
    return "ClassVar" in ast.unparse(one.annotation)


def _declared(cls: ast.ClassDef) -> Iterator[tuple[str, Any]]:
    for one in cls.body:
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and isinstance(one.value, ast.Constant):
            yield one.target.id, one.value.value


def source_of_the_package(folder: Path) -> str:
    """The C of all rules of the package."""
    rules = list(rules_of_the_package(folder))
    parts = ["/* The rules of the package, written from kenyon/rules by write_rules.py. */", '#include "plastic.h"']
    parts += [c_of(name, program) for name, program in rules]
    entries = [line for name, program in rules for line in entries_of(name, program)]
    parts.append("#define RULES_ENTRIES \\\n" + " \\\n".join(f"    {line}" for line in entries))
    return "\n\n".join(parts) + "\n"
