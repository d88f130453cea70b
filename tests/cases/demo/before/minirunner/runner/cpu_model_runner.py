"""The runner for hosts without an accelerator."""

from __future__ import annotations

import logging

from minirunner import simdev
from minirunner.host.memory import get_total_memory
from minirunner.runner.model_runner import ModelRunner

logger = logging.getLogger(__name__)


class CpuModelRunner(ModelRunner):
    def init_device(self):
        # There is one host however many ranks; nothing to choose and no math library to load lazily.
        simdev.set_device(0)
        self.total_memory = get_total_memory(self.device, self.gpu_id)

    def get_attention_backend_name(self) -> str:
        return "blocked" if self.model_config.max_context > 32 else "naive"

    def rebind(self) -> str:
        """Bind again, after the user has changed MINI_CPU_THREADS_BIND or the host's cores."""
        self.init_threads_binding()
        simdev.bind_threads(self.local_omp_cpuid)
        logger.info(f"rebound: {self.local_omp_cpuid=}")
        return self.local_omp_cpuid
