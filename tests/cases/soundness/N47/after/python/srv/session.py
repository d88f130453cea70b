from srv.sampling import SampleOptions, sample


def serve(prompt, n):
    return sample(prompt, SampleOptions(count=n, stop="!"))
