"""What a vocabulary file is when it is not a vocabulary file."""

from __future__ import annotations

__all__ = ["name_damage"]

_SIGNS: dict[bytes, tuple[str, str]] = {
    b"version https://git-lfs.github.com/spec/": (
        "a Git LFS pointer, not the file it points to",
        "Run 'git lfs pull' in the repository it came from, or download the file itself.",
    ),
    b"/annex/objects/": (
        "a git-annex pointer, not the file it points to",
        "Run 'git annex get' in the repository it came from.",
    ),
    b"<!doctype": (
        "an HTML page, not a vocabulary",
        "Download the raw file: hubs show a page about a file under a similar address.",
    ),
    b"<html": (
        "an HTML page, not a vocabulary",
        "Download the raw file: hubs show a page about a file under a similar address.",
    ),
    b"\x1f\x8b": ("compressed with gzip", "Unpack it with gunzip."),
    b"\x28\xb5\x2f\xfd": ("compressed with zstd", "Unpack it with 'zstd -d'."),
    b"PK\x03\x04": ("a zip archive", "Unpack it."),
    b"\xff\xfe": ("UTF-16 text", "Convert it to UTF-8."),
    b"\xfe\xff": ("UTF-16 text", "Convert it to UTF-8."),
}


def name_damage(data: bytes) -> tuple[str, str] | None:
    """What ``data`` is instead of a vocabulary, and what to do about it; None if nothing is plain.

    The first part completes the sentence "The file is ...".
    """
    if not data.strip():
        return "empty", "Download or copy it again."
    start = data[:256].lstrip().lower()
    for sign, verdict in _SIGNS.items():
        if start.startswith(sign.lower()):
            return verdict
    return None
