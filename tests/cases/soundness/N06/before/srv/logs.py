import logging

log = logging.getLogger("srv")
