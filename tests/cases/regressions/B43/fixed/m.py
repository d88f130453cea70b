class Adapter:
    def get_connection(self, url):
        return "pool:" + url

    def _get_connection(self, url, verify=True):
        return self.get_connection(url)

    def send(self, url):
        return self._get_connection(url)
