from pk.jobs import filt
