"""The LLM inference engine: request, tokenizer, scheduler, runner, sampler, detokenizer. Floors so far, from the top:
scheduler, text > kv > distributed > host > config > schema; the runner, its models and the server follow."""
