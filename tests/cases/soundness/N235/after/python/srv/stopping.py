from srv.actions import action


@action
def halt():
    return "off"
