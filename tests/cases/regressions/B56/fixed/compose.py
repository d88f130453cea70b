from helpers import resolve
from services import url_by


def url():
    return url_by(resolve)
