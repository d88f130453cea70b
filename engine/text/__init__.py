"""Text to tokens and back, and the templates of conversations. Knows no model's weights and no request's state."""
