# %% [markdown]
# # Intents that are added later
#
# This example is for people with text: sentences arrive intent by intent, and each is a vector. Here the vectors are
# words by TF-IDF, reduced to 64 numbers; use any sentence encoder in their place.

# %%
import pandas as pd
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from kenyon import KenyonClassifier

SENTENCES = """
weather: will it rain today | how warm is it outside | do i need an umbrella | is it going to snow | is it windy now
alarm: wake me at seven | set an alarm for six | cancel my alarm | remind me at noon | set a timer for ten minutes
music: play some jazz | next song please | turn the volume up | play my favourite album | stop the music
lights: turn on the lamp | dim the lights | lights off in the kitchen | make it brighter | switch the lamp off
"""
INTENTS = dict(line.split(": ") for line in SENTENCES.strip().splitlines())
frame = pd.DataFrame(
    [(text, intent) for intent, texts in INTENTS.items() for text in texts.split(" | ")], columns=["text", "intent"]
)

# %%
encoder = make_pipeline(TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4)), TruncatedSVD(16, random_state=0))
vectors = encoder.fit_transform(frame["text"])
clf = KenyonClassifier(random_state=0)
for intent in INTENTS:  # one after the other
    rows = (frame["intent"] == intent).to_numpy()
    clf.partial_fit(vectors[rows], frame["intent"][rows])

# %%
asked = ["is it raining outside", "please play jazz music", "set the alarm for seven", "turn off the kitchen lamp"]
for text, intent in zip(asked, clf.predict(encoder.transform(asked)), strict=True):
    print(f"{text:30} {intent}")
