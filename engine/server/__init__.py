"""The OpenAI-compatible server: HTTP in, frames to the engine's process out. Text is its business, tokens' values are
not."""
