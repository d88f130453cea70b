def shown(seconds, log):
    log(f'took {seconds:.2f} s')
