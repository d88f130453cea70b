"""The engine: one runner per rank, prompts in, tokens out."""

from __future__ import annotations

from typing import Dict, List, Optional

from minirunner.config import ModelConfig, ServerArgs
from minirunner.distributed import parallel_state
from minirunner.runner.cpu_model_runner import CpuModelRunner
from minirunner.runner.forward_batch import ForwardBatch
from minirunner.runner.model_runner import ModelRunner


class Engine:
    def __init__(self, server_args: ServerArgs):
        self.server_args = server_args
        self.model_config = ModelConfig.from_server_args(server_args)
        runner_class = CpuModelRunner if server_args.device == "cpu" else ModelRunner
        self.runners: List[ModelRunner] = [
            runner_class(
                model_config=self.model_config,
                server_args=server_args,
                gpu_id=rank,
                tp_rank=rank,
                tp_size=server_args.tp_size,
                dist_port=server_args.dist_port,
                engine=self,
            )
            for rank in range(server_args.tp_size)
        ]
        for runner in self.runners:
            runner.initialize()
        for runner in self.runners:
            runner.start()
        self.num_steps = 0

    def warm_up(self) -> None:
        """Load the math library before the first request, also on hosts that do without it at start."""
        for runner in self.runners:
            runner.warm_up_matmul()

    def on_step(self, num_tokens: int) -> None:
        """Runners report here; only the first one does."""
        self.num_steps += 1

    def _step(self, batch: ForwardBatch) -> List[List[int]]:
        """Full rows of logits, put together from the shards of all ranks."""
        outputs = [runner.forward(batch) for runner in self.runners]
        rows = []
        for index in range(batch.batch_size):
            for runner, output in zip(self.runners, outputs):
                runner.tp_group.post(runner.tp_rank, output.logits[index])
            rows.append(self.runners[0].tp_group.all_gather())
        return rows

    def generate(
        self, prompts: Dict[str, List[int]], max_new_tokens: int, temperature: Optional[float] = None
    ) -> Dict[str, List[int]]:
        first = self.runners[0]
        request_ids = list(prompts)
        output: Dict[str, List[int]] = {request_id: [] for request_id in request_ids}
        batch = ForwardBatch(request_ids, [prompts[request_id] for request_id in request_ids], is_prefill=True)
        for _ in range(max_new_tokens):
            next_tokens = first.sample(self._step(batch), temperature)
            for request_id, token in zip(request_ids, next_tokens):
                output[request_id].append(token)
            batch = ForwardBatch(request_ids, [[token] for token in next_tokens], is_prefill=False)
        for runner in self.runners:
            runner.finish(request_ids)
        return output

    def shutdown(self) -> None:
        for runner in self.runners:
            runner.release()
        parallel_state.destroy()
