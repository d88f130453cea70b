from unittest.mock import patch

import srv.m


def run():
    with patch('srv.m.B'):
        return srv.m.A, srv.m.B
