from srv.sampling import sample


def serve(prompt):
    return sample(prompt, stop="!")
