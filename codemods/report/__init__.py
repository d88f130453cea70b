"""One model of a run, and the texts made of it. Returns lines and values; only cli/ prints them."""
