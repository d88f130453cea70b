from srv.sampling import sample


def serve(prompt, n):
    return sample(prompt, n, "!")


def again(prompt):
    return sample(prompt, 1, "?")
