"""What the user asks for (ServerArgs) and what a checkpoint says about itself (ModelConfig)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Dict, Optional


@dataclass
class ServerArgs:
    model_path: str
    draft_model_path: Optional[str] = None
    device: str = "sim"
    tp_size: int = 1

    # memory
    mem_fraction_static: float = 0.75
    max_total_tokens: Optional[int] = None
    block_tokens: int = 4

    # distributed
    host: Optional[str] = None
    dist_port: int = 29500
    dist_init_addr: Optional[str] = None
    dist_backend: Optional[str] = None

    # steps
    max_batch_size: int = 8
    disable_step_cache: bool = False
    random_seed: int = 0
    model_override_args: Dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelConfig:
    vocab_size: int
    hidden_size: int
    num_layers: int
    max_context: int = 64
    is_draft_model: bool = False

    @classmethod
    def from_server_args(
        cls, server_args: ServerArgs, model_path: Optional[str] = None, is_draft_model: bool = False
    ) -> ModelConfig:
        from minirunner.loader.checkpoint import read_header

        header = read_header(model_path or server_args.model_path)
        config = cls(**header["config"], is_draft_model=is_draft_model)
        # Overrides are written for the target model; a draft model has a shape of its own.
        if server_args.model_override_args and not is_draft_model:
            config = replace(config, **server_args.model_override_args)
        return config

    @property
    def kv_bytes_per_token(self) -> int:
        return self.num_layers * self.hidden_size * 4
