"""All hazards, one page each, as `unmoved explain` shows them. When a hazard is raised is decided where it is found."""

from __future__ import annotations

from collections.abc import Mapping

from codemods.schema import pages_object, pages_places, pages_readers, pages_results, pages_values
from codemods.schema.page import Page

PAGES: Mapping[str, Page] = {
    page.code: page
    for page in sorted(
        (
            *pages_values.PAGES,
            *pages_results.PAGES,
            *pages_object.PAGES,
            *pages_places.PAGES,
            *pages_readers.PAGES,
        ),
        key=lambda page: page.code,
    )
}

CODES: tuple[str, ...] = tuple(PAGES)
