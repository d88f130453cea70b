"""What a runner does for others besides steps: the methods that may be asked for by name, on every rank."""

from __future__ import annotations

CALLS: frozenset[str] = frozenset(
    """
    describe start_profile stop_profile
    update_weights_from_disk update_weights_from_tensor update_weights_from_distributed
    init_weights_update_group destroy_weights_update_group
    get_weights_by_name check_weights save_sharded_model
    load_lora_adapter load_lora_adapter_from_tensors unload_lora_adapter hold_lora_adapter release_lora_adapter
    release_memory_occupation resume_memory_occupation sleep wake_up
    """.split()
)
