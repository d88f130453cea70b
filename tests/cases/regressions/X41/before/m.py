def shown(seconds, log):
    log('took %.2f s' % seconds)
