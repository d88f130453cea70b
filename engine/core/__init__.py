"""The engine put together: requests in, tokens out; in this process or in one of its own. Knows no text but in llm.py,
and no HTTP."""
