"""One step on the model: inputs, forward, logits, tokens; on one rank or several. Who computes what in a step is the
scheduler's decision, and comes as data."""
