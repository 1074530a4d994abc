"""What a vocabulary file is when it is not the vocabulary file that was meant."""

from __future__ import annotations

from hashlib import sha256
from typing import NamedTuple

from .manifest import File

__all__ = ["Damage", "compare", "name_damage"]


class Damage(NamedTuple):
    """``kind`` for programs; ``what`` completes "The file is ..."; ``hint`` says what to do."""

    kind: str
    what: str
    hint: str


_LFS = Damage(
    "lfs-pointer",
    "a Git LFS pointer, not the file it points to",
    "Run 'git lfs pull' in the repository it came from, or download the file itself.",
)
_ANNEX = Damage(
    "annex-pointer",
    "a git-annex pointer, not the file it points to",
    "Run 'git annex get' in the repository it came from.",
)
_HTML = Damage(
    "html",
    "an HTML page, not a vocabulary",
    "Download the raw file: hubs show a page about a file under a similar address, and networks "
    "that ask for a login answer everything with a page.",
)
_UTF16 = Damage("utf-16", "UTF-16 text", "Convert it to UTF-8.")
_AGAIN = "Download or copy it again."

_SIGNS = {
    b"version https://git-lfs.github.com/spec/": _LFS,
    b"/annex/objects/": _ANNEX,
    b"<!doctype html": _HTML,
    b"<html": _HTML,
    b"\x1f\x8b": Damage("gzip", "compressed with gzip", "Unpack it with gunzip."),
    b"\x28\xb5\x2f\xfd": Damage("zstd", "compressed with zstd", "Unpack it with 'zstd -d'."),
    b"pk\x03\x04": Damage("zip", "a zip archive", "Unpack it."),
    b"\xff\xfe": _UTF16,
    b"\xfe\xff": _UTF16,
}


def name_damage(data: bytes) -> Damage | None:
    """What ``data`` plainly is instead of a text vocabulary; None if that is not plain."""
    if not data.strip():
        return Damage("empty", "empty", _AGAIN)
    start = data[:256].lstrip().lower()
    return next((damage for sign, damage in _SIGNS.items() if start.startswith(sign)), None)


def compare(data: bytes, file: File, digest: str) -> Damage | None:
    """What ``data`` is instead of ``file``, whose hex sha256 is ``digest``; None: it is it."""
    found = sha256(data).hexdigest()
    if found == digest:
        return None
    plain = name_damage(data)
    if plain is not None and not (plain.kind == "gzip" and file.name.endswith(".gz")):
        return plain
    if sha256(data.replace(b"\r\n", b"\n")).hexdigest() == digest:
        return Damage(
            "crlf",
            "right but for its line ends, which were converted to CRLF",
            "Fetch it again; in a Git checkout on Windows, set core.autocrlf to input first.",
        )
    if file.bytes is not None and len(data) < file.bytes:
        return Damage("truncated", f"cut short: {len(data):,} of {file.bytes:,} bytes", _AGAIN)
    return Damage(
        "other",
        f"another file: {len(data):,} bytes with a sha256 of {found}, not {digest}",
        "If the publisher has changed it, name the new file by its path instead.",
    )
