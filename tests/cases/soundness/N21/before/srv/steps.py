_step = 0
