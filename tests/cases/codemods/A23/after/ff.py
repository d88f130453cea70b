import os\

import posixpath

x = os.sep


def root():
    return posixpath.sep
