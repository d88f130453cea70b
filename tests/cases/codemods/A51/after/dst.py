from m import HAVE


def ask():
    if HAVE:
        from m import surely_not_here_xyz

        return surely_not_here_xyz.ask()
    return 'nobody'
