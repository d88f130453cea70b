def url_by(resolve):
    return resolve()
