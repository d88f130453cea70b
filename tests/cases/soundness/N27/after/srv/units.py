MICRO = "µs"
