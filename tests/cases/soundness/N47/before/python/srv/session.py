from srv.sampling import sample


def serve(prompt, n):
    return sample(prompt, n, "!")
