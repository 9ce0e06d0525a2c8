"""Suggestions: what the surrogate sees, and that it learns."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("deephyper", reason="needs the extra 'search'")


from kenyon.errors import ConfigError
from kenyon.lab.search import default_space, parse_space
from kenyon.lab.search._deephyper import MaskedForest, make_search
from kenyon.lab.search._suggest import AmbsSuggester, RandomSuggester, make_suggester

pytestmark = pytest.mark.slow

SPACE = parse_space(default_space())


def points(n: int, seed: int = 0) -> list[dict]:
    return [SPACE.draw(np.random.default_rng([seed, i])) for i in range(n)]


def test_the_forest_sees_nan_for_inactive_parameters_whatever_stands_there() -> None:
    #          rule  b1_on  b1
    parents = (None, (0, 2), (1, 0))
    X = [[2, 0, 0.5], [2, 1, 0.5], [1, 0, 0.5], [0, 0, 0.0]]
    masked = MaskedForest(parents).masked(X)
    nan = math.nan
    np.testing.assert_array_equal(
        masked, np.array([[2, 0, 0.5], [2, 1, nan], [1, nan, nan], [0, nan, nan]], np.float32)
    )


def test_what_stands_in_an_inactive_place_changes_no_prediction() -> None:
    parents = (None, (0, 1))
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 60), rng.random(60)])
    y = X[:, 0] * X[:, 1]
    other = X.copy()
    other[X[:, 0] == 0, 1] = 0.123
    a, b = MaskedForest(parents, random_state=0).fit(X, y), MaskedForest(parents, random_state=0).fit(other, y)
    np.testing.assert_array_equal(a.predict(X), b.predict(other))
    np.testing.assert_array_equal(a.predict(X, return_std=True)[1], b.predict(other, return_std=True)[1])


def test_suggestions_of_the_forest_are_masked_and_within_the_space() -> None:
    search = make_search(SPACE, [0, 0], 2.0, 100)
    search.tell([(point, 0.5 + 0.01 * i) for i, point in enumerate(points(12))])
    for point in search.ask(5):
        assert repr(SPACE.mask(point)) == repr(point)
        assert isinstance(point["n_hidden"], int) and 1000 <= point["n_hidden"] <= 11000
        assert SPACE.options(point)["rule"] == point["rule"]


def test_several_suggestions_at_once_are_different() -> None:
    search = make_search(SPACE, [0, 0], 2.0, 200)
    search.tell([(point, 0.01 * i) for i, point in enumerate(points(12))])
    assert len({repr(point) for point in search.ask(4)}) == 4


def test_points_being_evaluated_count_for_the_next_request() -> None:
    told = [(point, quality(point)) for point in points(30)]
    different = []
    for forget in (True, False):
        suggester = AmbsSuggester(SPACE, 0, 0.5, 10, "one")
        suggester.tell(told)
        asked: list[dict] = []
        for number in range(4):  # four workers, none of which has ended
            suggester._pending = [] if forget else suggester._pending
            asked += suggester.ask(30 + number, 1)
        different.append(len({repr(point) for point in asked}))
        suggester.tell([(point, 1.0) for point in asked])
        assert suggester._pending == []
    assert different == [1, 4]


def quality(point: dict) -> float:
    """An easy landscape: GEN, many units, low rate."""
    rate = -math.log10(SPACE.options(point)["layer__learning_rate"]) / 3
    return 0.5 * (point["rule"] == "gen") + 0.25 * point["n_hidden"] / 11000 + 0.25 * rate


def test_ambs_finds_what_chance_does_not() -> None:
    def best(suggester: AmbsSuggester | RandomSuggester) -> float:
        scores = []
        for i in range(60):
            (point,) = suggester.ask(i, 1)
            scores.append(quality(point))
            suggester.tell([(point, scores[-1])])
        return float(np.mean(scores[30:]))

    for seed in (0, 1):
        assert best(AmbsSuggester(SPACE, seed, 2.0, 15)) > best(RandomSuggester(SPACE, seed)) + 0.1


def test_every_rule_has_its_turn_whatever_is_ahead() -> None:
    suggester = AmbsSuggester(SPACE, 0, 2.0, 12)
    suggester.tell([(point, quality(point)) for point in points(12)])  # GEN is far ahead
    asked = []
    for number in range(12, 44):
        (point,) = suggester.ask(number, 1)
        asked.append(point["rule"])
        suggester.tell([(point, quality(point))])
    turns, free = asked[1::2], asked[0::2]
    assert turns[2:6] == ["gen", "oja", "mse", "inel"] and all(turns.count(rule) == 4 for rule in set(turns))
    assert free.count("gen") > len(free) / 2


def test_a_rule_whose_turn_it_is_again_without_news_does_not_repeat_itself() -> None:
    suggester = AmbsSuggester(SPACE, 0, 2.0, 12)
    suggester.tell([(point, quality(point)) for point in points(12)])
    assert len({repr(point) for point in suggester.ask(12, 20)}) == 20


def test_a_large_kappa_looks_where_results_vary_and_a_small_one_where_they_are_good() -> None:
    """GEN is always good, OJA anything from bad to nearly as good: the forest's trees disagree about OJA alone."""
    told = [point for point in points(60, seed=1) if point["rule"] in ("gen", "oja")]
    scores = [0.9 if point["rule"] == "gen" else 0.8 * (i % 2) for i, point in enumerate(told)]

    def rules(kappa: float) -> list[str]:
        found = []
        for seed in range(8):
            suggester = AmbsSuggester(SPACE, seed, kappa, 10, "one")
            suggester.tell(list(zip(told, scores, strict=True)))
            found.append(suggester.ask(60, 1)[0]["rule"])
        return found

    assert rules(0.0).count("gen") == 8
    assert rules(100.0).count("gen") <= 1


def test_one_forest_gives_no_rule_a_turn() -> None:
    suggester = AmbsSuggester(SPACE, 0, 0.0, 12, "one")
    suggester.tell([(point, quality(point)) for point in points(12)])
    asked = []
    for number in range(12, 32):
        (point,) = suggester.ask(number, 1)
        asked.append(point["rule"])
        suggester.tell([(point, quality(point))])
    assert asked.count("gen") > 15
    with pytest.raises(ConfigError, match="unknown forests 'many': expected one of one, rules"):
        AmbsSuggester(SPACE, 0, 0.0, 12, "many")


def test_the_same_seed_and_results_give_the_same_suggestions() -> None:
    def asked() -> str:
        suggester = AmbsSuggester(SPACE, 3, 2.0, 10)
        suggester.tell([(point, quality(point)) for point in points(12)])
        return repr(suggester.ask(12, 2))

    assert asked() == asked()


def test_before_enough_results_ambs_draws_like_chance() -> None:
    assert repr(AmbsSuggester(SPACE, 4, 2.0, 10).ask(3, 2)) == repr(RandomSuggester(SPACE, 4).ask(3, 2))


def test_random_points_depend_on_their_number_alone() -> None:
    suggester = RandomSuggester(SPACE, 0)
    assert repr(suggester.ask(0, 5)[3]) == repr(suggester.ask(3, 1)[0])


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ConfigError, match="did you mean 'random'"):
        make_suggester("ramdom", SPACE, 0, 1.0, 10)
