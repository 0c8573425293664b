"""dnsmasq as the name server of a site."""

import os
import time

from .process import Process, need


class NameServer:
    """Answers for `test.` only, from `records`: dnsmasq options such as "host-record=pbx.test,10.77.1.2" or
    "srv-host=_sip._udp.test,pbx.test,5060,0,10"."""

    def __init__(self, namespace, address, folder, records):
        self.folder = os.path.join(folder, f"dnsmasq-{address}")
        os.makedirs(self.folder, exist_ok=True)
        self.file = f"{self.folder}/dnsmasq.conf"
        with open(self.file, "w") as file:
            file.write("\n".join([
                "no-resolv", "no-hosts", "no-poll", "bind-interfaces", f"listen-address={address}", "local=/test/",
                "cache-size=0", "local-ttl=2", "user=root", "log-queries", "log-facility=-", *records, ""]))
        self.process = Process([need("dnsmasq"), "-k", "-C", self.file, "-x", f"{self.folder}/pid"],
                               f"{self.folder}/log", namespace)

    def start(self):
        self.process.start()
        time.sleep(0.2)
        return self

    def stop(self):
        self.process.stop()
