from unittest.mock import patch

import srv.m


def run():
    with patch('srv.m.A'):
        return srv.m.A, srv.m.B
