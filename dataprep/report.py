"""What a build says when it has ended well."""

from __future__ import annotations

from .books import Books
from .builder import Result
from .settings import BuildSettings

__all__ = ["closing_report"]

_SHOWN_PROBLEMS = 20


def closing_report(settings: BuildSettings, result: Result) -> str:
    """Where the dataset is, what is in it, and what became of every record."""
    manifest = result.manifest
    books = Books.from_json(manifest["books"])
    lines = []
    if result.existed:
        lines.append(f"{settings.out} is complete already: same inputs, same settings.")
    lines += [
        f"{settings.out}: {manifest['documents']:,} documents, {manifest['tokens']:,} tokens "
        f"({manifest['dtype']}), vocabulary {manifest['vocab_size']:,}, "
        f"by {manifest['tokenizer']['engine']}",
        f"Records: {books.summary()}",
    ]
    if books.damaged_files:
        lines.append(f"Damaged files, read up to the damage: {books.damaged_files:,}")
    if books.problems:
        lines.append("Failed:")
        lines += [f"  {problem}" for problem in books.problems[:_SHOWN_PROBLEMS]]
        hidden = books.failed - min(len(books.problems), _SHOWN_PROBLEMS)
        if hidden:
            where = settings.keep_rejects or f"{settings.out}.json (all with --keep-rejects)"
            lines.append(f"  and {hidden:,} more: see {where}")
    return "\n".join(lines)
