Step = int
