# %% [markdown]
# # Colour images through a frozen network
#
# This example is for people with photographs: a frozen network turns a picture into 1,280 numbers, and Kenyon learns
# those. EfficientNet-Lite0's weights come from the extra `backbones`.

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_sample_images

from kenyon import KenyonClassifier
from kenyon.data.backbones import Pretrained

pictures = dict(zip(("temple", "flower"), load_sample_images().images, strict=True))
rng = np.random.default_rng(0)


def crops(picture: np.ndarray, n: int, size: int = 128) -> np.ndarray:
    """Random parts of a picture."""
    corners = rng.integers(0, np.array(picture.shape[:2]) - size, (n, 2))
    parts = np.stack([picture[top : top + size, left : left + size] for top, left in corners])
    return parts.transpose(0, 3, 1, 2).reshape(n, -1)  # channels first, one row an image


# %%
backbone = Pretrained("efficientnet-lite0", shape=(3, 128, 128))
clf = KenyonClassifier(features="identity", layer="second-order", random_state=0)
for name, picture in pictures.items():
    clf.partial_fit(backbone.transform(crops(picture, 20)), [name] * 20)

# %%
figure, places = plt.subplots(1, 4, figsize=(5, 1.7))
for axes, name in zip(places, ["temple", "flower"] * 2, strict=True):
    part = crops(pictures[name], 1)
    axes.imshow(part.reshape(3, 128, 128).transpose(1, 2, 0))
    axes.set(title=clf.predict(backbone.transform(part))[0], xticks=[], yticks=[])
plt.show()
