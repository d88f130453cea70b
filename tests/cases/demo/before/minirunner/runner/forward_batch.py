"""What one forward step runs on, and what comes out of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import List


@dataclass
class ForwardBatch:
    request_ids: List[str]
    tokens: List[List[int]]
    is_prefill: bool

    @property
    def batch_size(self) -> int:
        return len(self.request_ids)

    @property
    def num_tokens(self) -> int:
        return sum(map(len, self.tokens))


@dataclass
class StepOutput:
    """One row of this rank's logits per request."""

    logits: List[List[int]]
    used_step_cache: bool
