def shown(seconds, log):
    log(f'took {seconds} s')
