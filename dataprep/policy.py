"""What a run puts up with."""

from __future__ import annotations

from dataclasses import dataclass

from .books import Books
from .errors import DataError
from .settings import BuildSettings

__all__ = ["ErrorPolicy"]

_SHOWN = 10


@dataclass(frozen=True)
class ErrorPolicy:
    """How many bad records, and whether damaged files, may be left out."""

    max_failures: int | None
    """None for any number."""
    skip_damaged: bool
    max_lost: float | None = None
    """Percent of the input that may be dropped or fail; None for any share."""

    @classmethod
    def of(cls, settings: BuildSettings) -> ErrorPolicy:
        """What --on-error and --max-errors mean."""
        limit = {"limit": settings.max_errors, "fail": 0, "skip": None}[settings.on_error]
        skips = settings.on_error == "skip"
        return cls(limit, skip_damaged=skips, max_lost=settings.max_dropped)

    def judge_whole(self, books: Books) -> None:
        """Raise DataError when more of the whole input is lost than may be."""
        for unit, amounts in books.amounts.items():
            percent = 100 * amounts.lost
            if self.max_lost is not None and percent > self.max_lost:
                raise DataError(
                    f"{percent:.3g} % of the {unit}s in records were dropped or failed; allowed: "
                    f"{self.max_lost:g} %. Records: {books.summary()}.",
                    "Nothing was published. --keep-rejects FILE shows what it is; allow more with "
                    "a higher --max-dropped, which goes on from here.",
                )

    def judge(self, books: Books) -> None:
        """Raise DataError when there is more that is bad than is put up with."""
        if self.max_failures is not None and books.failed > self.max_failures:
            shown = "".join(f"\n  {problem}" for problem in books.problems[:_SHOWN])
            raise DataError(
                f"Bad records: {books.failed:,}; allowed: {self.max_failures:,}. The first:{shown}",
                "Is it the right encoding, and the right --text-key? Allow more with "
                "--max-errors N, leave out whatever is bad with --on-error skip.",
            )
        if books.damaged_files and not self.skip_damaged:
            raise DataError(
                f"Damaged files left out by an earlier run: {books.damaged_files:,}.",
                "Go on with --on-error skip, or start over with --overwrite.",
            )
