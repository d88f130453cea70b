import logging

logger = logging.getLogger(__name__)


def warm(n):
    logger.info("warming up %d", n)


def start():
    warm(2)
    logger.info("started")
