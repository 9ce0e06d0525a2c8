"""Pinned versions are held against advisories: by ranges, by named versions, and without those that were withdrawn."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("yaml", reason="needs PyYAML")

import audit

ADVISORY = """
id: PYSEC-1
aliases: [CVE-1]
affected:
- package: {ecosystem: PyPI, name: Some_Package}
  ranges:
  - {type: GIT, events: [{introduced: "0"}, {fixed: abc}]}
  - {type: ECOSYSTEM, events: [{introduced: "1.0"}, {fixed: "1.10"}, {introduced: "2.0"}, {last_affected: "2.1"}]}
  versions: ["0.5", not-a-version]
"""


@pytest.mark.parametrize(
    ("version", "is_affected"),
    [("0.5", True), ("0.9", False), ("1.0", True), ("1.9", True), ("1.10", False), ("2.1", True), ("2.2", False)],
)
def test_a_version_falls_under_an_advisory(version: str, is_affected: bool, tmp_path: Path) -> None:
    folder = tmp_path / "vulns" / "some-package"
    folder.mkdir(parents=True)
    (folder / "PYSEC-1.yaml").write_text(ADVISORY)
    (folder / "PYSEC-2.yaml").write_text(ADVISORY + 'withdrawn: "2024-01-01"\n')
    pins = f"# pinned\nother==1.0\nsome.package=={version}\n"
    assert list(audit.found(tmp_path, pins)) == [f"some-package {version}: PYSEC-1 (CVE-1)"] * is_affected
