"""What the package shows of itself."""

from __future__ import annotations

import kenyon


def test_the_package_lists_its_public_names_before_they_are_imported() -> None:
    assert dir(kenyon) == sorted(kenyon.__all__)
    assert all(hasattr(kenyon, name) for name in kenyon.__all__)
