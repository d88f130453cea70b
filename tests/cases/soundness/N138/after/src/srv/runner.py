class Runner:
    def on(self, event):
        hook = getattr(self, "on_" + event, None)
        return hook() if hook else "ignored"

    def on_start(self):
        return "started"
