import logging

from srv.startup import warm

logger = logging.getLogger(__name__)


def start():
    warm(2)
    logger.info("started")
