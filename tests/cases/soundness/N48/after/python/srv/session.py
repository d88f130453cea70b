from srv.sampling import SampleOptions, sample


def serve(prompt):
    return sample(prompt, SampleOptions(stop="!"))
