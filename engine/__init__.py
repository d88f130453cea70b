"""The LLM inference engine. Nothing stands here yet: its floors arrive with the engine issue, god class first."""
