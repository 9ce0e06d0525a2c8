"""Events from a stream: what is recognised, in any cut of the stream."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hearing import FRONTS, MOTION, PITCHES, SHAKES, SPECTRA, heard, listener, pieces, shake, tone

from kenyon import KenyonClassifier
from kenyon.errors import ConfigError, InputError, MergeError
from kenyon.features.front import Events, Motion, Segment, Smoothing, Spectra


@pytest.fixture(scope="module")
def models() -> dict[str, KenyonClassifier]:
    return {name: listener(front) for name, front in FRONTS.items()}


def test_words_are_recognised_where_they_are(models):
    x, names = heard(SPECTRA, 3)
    events = list(models["sound"].listen([x]))
    assert [event.label for event in events] == names
    assert all(one.end <= other.start for one, other in pairwise(events))
    assert all(0.8 * 2400 < event.end - event.start + 1000 < 2 * 2400 for event in events)


def test_motion_makes_one_event_for_each_kind_that_goes_on(models):
    x, names = heard(MOTION, 5)
    found = [event.label for event in models["motion"].listen([x], Events(agree=3))]
    changes = [name for k, name in enumerate(names) if not k or name != names[k - 1]]
    assert found == changes


@pytest.mark.parametrize("name", FRONTS)
def test_the_cut_of_the_stream_makes_no_difference_and_bytes_are_samples(name, models):
    model, (x, _) = models[name], heard(FRONTS[name], 4)
    at_once = list(model.listen([x]))
    assert at_once and at_once == list(model.listen(pieces(x, 1)))
    assert at_once == list(model.listen(part.astype("<i2").tobytes() for part in pieces(x, 2)))


def test_what_is_like_no_class_is_rejected(models):
    rng = np.random.default_rng(1)
    noise = np.concatenate([np.zeros(2000), rng.normal(0, 3000, 2400) * np.hanning(2400), np.zeros(3000)])
    noise = noise.astype(np.int16)
    assert list(models["sound"].listen([noise]))
    assert not list(models["sound"].listen([noise], Events(reject=1)))
    word = np.concatenate([np.zeros(2000, np.int16), tone("high", rng), np.zeros(3000, np.int16)])
    assert [event.label for event in models["sound"].listen([word], Events(reject=1))] == ["high"]


def test_a_sound_without_an_end_is_asked_about_and_has_to_agree(models):
    t = np.arange(8000 * 3) / 8000
    hum = np.round(3000 * np.sin(2 * np.pi * 500 * t)).astype(np.int16)
    model = KenyonClassifier.from_arrays(models["sound"].to_arrays())
    for segment in SPECTRA.stream().segments(hum):
        model.learn_one(segment.window.ravel(), "hum") if "hum" in model.classes_ else model.partial_fit(
            segment.window.reshape(1, -1), ["hum"]
        )
    (event,) = model.listen([hum])
    assert event.label == "hum"
    assert len(list(models["sound"].listen([hum], Events(agree=200)))) == 0


def test_hold_keeps_events_apart():
    smoothing = Smoothing(Events(hold=1000), hold=1)
    at = [100, 900, 1100, 1500, 2100, 3100]
    made = [smoothing.take("a", Segment(np.zeros(1), t - 50, t, t, True, 0)) is not None for t in at]
    assert made == [True, False, True, False, True, True]


def test_silence_and_gaps_make_no_events_and_clipping_is_reported(models):
    model, rng = models["sound"], np.random.default_rng(2)
    assert not list(model.listen([np.zeros(40_000, np.int16)]))
    word, quiet = tone("low", rng), np.zeros(3000, np.int16)
    loud = np.clip(word.astype(int) * 40, -32768, 32767).astype(np.int16)
    (event,) = model.listen([quiet, loud, quiet])
    assert event.clipped > 100
    (plain,) = model.listen([quiet, word, quiet])
    assert plain.clipped == 0
    whole = list(model.listen([quiet, word[:1200], word[1200:], quiet]))
    assert whole == [plain]
    stream = SPECTRA.stream()
    stream.segments(word[:1200])
    stream.gap()
    assert stream.sound().length == 0, "nothing goes across a gap"
    x, names = heard(SPECTRA, 6)
    chunks = [part for piece in (x, x) for part in (piece, None)]
    assert [event.label for event in model.listen(chunks)] == 2 * names


@pytest.mark.parametrize(
    ("chunk", "message"),
    [
        (b"\0" * 1001, "a chunk has 1001 bytes: expected a multiple of 2"),
        (np.zeros(100, np.float32), "samples are of type float32: expected int16"),
        (np.zeros((10, 2), np.int16), r"samples have shape \(10, 2\): expected \(n,\)"),
    ],
)
def test_chunks_that_are_no_samples_are_refused(chunk, message, models):
    with pytest.raises(InputError, match=message):
        list(models["sound"].listen([chunk]))


def test_a_reading_in_parts_is_refused(models):
    with pytest.raises(InputError, match="a chunk has 10 bytes: expected a multiple of 6"):
        list(models["motion"].listen([b"\0" * 10]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agree": 0}, "agree is 0: expected an integer from 1 to 255"),
        ({"hold": 0}, "hold is 0: expected an integer from 1"),
        ({"reject": 0.01}, "reject is 0.01: expected None, or 0.1 or more"),
    ],
)
def test_events_that_make_no_sense_are_refused(options, message):
    with pytest.raises(ConfigError, match=message):
        Events(**options)


def test_a_model_without_a_front_end_hears_nothing():
    X = np.random.default_rng(0).integers(0, 256, (6, 64)).astype(np.uint8)
    model = KenyonClassifier(memory_budget="4KB", shape=(8, 8)).partial_fit(X, [0, 1] * 3)
    with pytest.raises(ConfigError, match="has no front end: expected one, such as"):
        list(model.listen([np.zeros(10, np.int16)]))


def test_recordings_are_learned_and_asked_about_like_their_windows(models):
    rng = np.random.default_rng(9)
    words = [tone(name, rng) for name in PITCHES]
    model = models["sound"]
    assert model.predict(words).tolist() == list(PITCHES)
    assert model.predict(SPECTRA.transform(words)).tolist() == list(PITCHES)
    assert model.score(words, list(PITCHES)) == 1
    for bad, message in (
        ([np.zeros(2000, np.int16)], "recording 0 is silent: expected sound"),
        ([words[0], np.zeros(0, np.int16)], "recording 1 has no samples"),
        ([words[0].astype(float)], "samples are of type float64: expected int16"),
        (np.zeros((2, 99), np.uint8), "99"),
        (words[0], r"X has shape \(2400,\): expected a list of recordings"),
        ([b"abc"], "recording 0 is b'abc': expected an array of int16"),
    ):
        before = model.to_arrays()
        with pytest.raises(InputError, match=message):
            model.partial_fit(bad, ["low"] * len(bad))
        assert all((a == before[k]).all() for k, a in model.to_arrays().items())
    with pytest.warns(UserWarning, match="recording 0 is clipped"):
        model.predict([np.clip(words[0].astype(int) * 50, -32768, 32767).astype(np.int16)])


def test_a_recording_of_motion_is_asked_about_as_a_whole(models):
    rng = np.random.default_rng(3)
    assert models["motion"].predict([shake(name, rng) for name in SHAKES]).tolist() == list(SHAKES)
    with pytest.raises(InputError, match="recording 0 has 10 readings: expected more, those of a window"):
        models["motion"].predict([np.zeros((10, 3), np.int16)])


def test_the_front_end_is_an_option_like_any_other():
    model = KenyonClassifier(front="motion").set_params(front__inputs=6)
    assert model.front == Motion(inputs=6) and model.get_params()["front__length"] == 32
    rng = np.random.default_rng(0)
    for front, message in (("spektra", "did you mean 'spectra'"), (5, "expected a name such as 'spectra'")):
        with pytest.raises(ConfigError, match=message):
            KenyonClassifier(front=front).partial_fit([tone("low", rng)], [0])
    with pytest.raises(ConfigError, match=r"shape is \(8, 8\): expected None, or \(10, 10\)"):
        listener(SPECTRA, shape=(8, 8))
    with pytest.raises(InputError, match="X is None: expected a list of recordings"):
        listener(SPECTRA).predict(None)


def test_models_with_other_front_ends_are_not_merged(models):
    other = listener(Spectra(frames=10, bands=10, kept=40, gap=7))
    with pytest.raises(MergeError, match="front__gap 6 in the first and 7 in the second"):
        KenyonClassifier.from_arrays(models["sound"].to_arrays()).merge(other)


def test_labels_and_weights_of_a_recording_are_those_of_its_windows():
    rng = np.random.default_rng(5)
    moves, names = [shake(name, rng, 300) for name in SHAKES], list(SHAKES)
    options = {"memory_budget": "4KB", "front": MOTION, "expected_classes": 4, "random_state": 1}
    one = KenyonClassifier(**options).partial_fit(moves, names, sample_weight=[1, 2, 1])
    windows = [MOTION.transform(move) for move in moves]
    two = KenyonClassifier(**options).partial_fit(
        np.concatenate(windows),
        np.repeat(names, [len(own) for own in windows]),
        sample_weight=np.repeat([1, 2, 1], [len(own) for own in windows]),
    )
    assert all((array == two.to_arrays()[name]).all() for name, array in one.to_arrays().items())


def test_the_front_end_is_saved_with_the_model(models, tmp_path):
    for name, model in models.items():
        model.save(tmp_path / name)
        again = KenyonClassifier.load(tmp_path / name)
        assert again.front == FRONTS[name]
        x, _ = heard(FRONTS[name], 2)
        assert list(again.listen([x])) == list(model.listen([x]))


def test_motion_of_other_settings_is_another_model():
    assert Motion(inputs=3, length=16, hop=8, step=2) == MOTION != Motion(inputs=3, length=16, hop=8, step=4)
