"""Files of models: where they come from and what stands in them. Arrays, not modules: their use is above."""
