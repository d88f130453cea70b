import logging

logger = logging.getLogger(__name__)


def warm(n):
    logger.info("warming up %d", n)
