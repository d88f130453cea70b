"""The differences that `unmoved prove` reports, one page each, D1 to D11. When one is reported is decided by prove/."""

from __future__ import annotations

from collections.abc import Mapping

from codemods.schema.page import Page
from codemods.schema.pages_deltas_effects import PAGES as EFFECTS
from codemods.schema.pages_deltas_order import PAGES as ORDER
from codemods.schema.pages_deltas_reach import PAGES as REACH

DELTA_PAGES: Mapping[str, Page] = {
    page.code: page for page in sorted((*EFFECTS, *ORDER, *REACH), key=lambda p: int(p.code[1:]))
}

DELTA_CODES: tuple[str, ...] = tuple(DELTA_PAGES)
