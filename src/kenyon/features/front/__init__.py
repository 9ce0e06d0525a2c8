"""Front ends: from the samples of a sensor to bytes with a shape, in integers, the same in Python and in C.

`Spectra` is for sound, `Motion` for accelerometers and gyroscopes. Both take int16 samples as they come, in parts of
any size, and give windows that `KenyonClassifier` learns; `core/front` has the same arithmetic in C, bit for bit.

>>> import numpy as np
>>> front = Spectra(rate=8000)
>>> stream = front.stream()
>>> stream.feed(np.zeros(1000, np.int16))
7
>>> stream.window().shape
(20, 20)
>>> list(FRONTS), isinstance(front, FrontPart)
(['spectra', 'motion'], True)
"""

from kenyon.features.front._base import FrontPart, FrontStream
from kenyon.features.front._events import Event, Events, Segment, Smoothing
from kenyon.features.front._motion import Motion, MotionStream
from kenyon.features.front._spectra import Sound, Spectra, SpectraStream
from kenyon.utils.options import part_named

FRONTS: dict[str, type[FrontPart]] = {"spectra": Spectra, "motion": Motion}
"""The front ends by name."""


def front_part(value: FrontPart | str) -> FrontPart:
    """A front end by name, `module:Class`, or the part itself.

    Example:
        >>> front_part("motion")
        Motion()
    """
    return part_named(value, FRONTS, FrontPart, "front")


__all__ = [
    "FRONTS",
    "Event",
    "Events",
    "FrontPart",
    "FrontStream",
    "Motion",
    "MotionStream",
    "Segment",
    "Smoothing",
    "Sound",
    "Spectra",
    "SpectraStream",
    "front_part",
]
