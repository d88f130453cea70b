"""What the engine was asked to be: options, environment, the model's shape. Frozen and resolved once."""
