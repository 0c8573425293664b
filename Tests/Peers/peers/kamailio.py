"""kamailio as a registrar and proxy with digest."""

import glob
import os
import signal
import subprocess

from .process import Process, missing, need, wait_until


class Kamailio:
    """One registrar. Its domain is its address, so that no name server is needed."""

    def __init__(self, namespace, folder, password="secret", port=5060, address=None, domain=None, algorithm="",
                 challenge_invites=True, min_expires=10, nonce_expires=300, tls=(), service_route="", gruu=False,
                 gruu_routes=False):
        """`tls`: a server for each of these, (port, certificate and key, further settings as in kamailio's tls.cfg).
        `service_route`: what the registrar names with each 200."""
        self.namespace, self.port, self.password = namespace, port, password
        self.address = address or namespace.address
        self.domain = domain or self.address
        self.folder = os.path.join(folder, f"kamailio-{self.address}")
        os.makedirs(self.folder, exist_ok=True)
        modules = glob.glob("/usr/lib/*/kamailio/modules/") or [missing("kamailio")]
        address6 = getattr(namespace, "address6", None) if address is None else None
        values = {
            "IP": self.address, "PORT": port, "DOMAIN": self.domain, "PASSWORD": password, "MODULES": modules[0],
            "FOLDER": self.folder, "MIN_EXPIRES": min_expires, "ALGORITHM": algorithm, "NONCE_EXPIRES": nonce_expires,
            "GRUU": int(gruu), "GRUU_ROUTES": "yes" if gruu_routes else "no",
            "CHALLENGE": "yes" if challenge_invites else "no",
            "SERVICE_ROUTE": service_route, "TLS": self._secure(tls, modules[0]) if tls else "",
            "LISTEN6": f"listen=udp:[{address6}]:{port}\nlisten=tcp:[{address6}]:{port}" if address6 else "",
        }
        with open(os.path.join(os.path.dirname(__file__), "kamailio.cfg")) as file:
            text = file.read()
        for key, value in values.items():
            text = text.replace(f"@{key}@", str(value))
        with open(f"{self.folder}/kamailio.cfg", "w") as file:
            file.write(text)
        self.process = Process(
            [need("kamailio"), "-f", f"{self.folder}/kamailio.cfg", "-P", f"{self.folder}/pid", "-Y", self.folder,
             "-m", "64", "-M", "8", "-DD", "-E"], f"{self.folder}/log", namespace)

    def _secure(self, servers, modules):
        if not os.path.exists(f"{modules}/tls.so"):
            missing("kamailio-tls-modules")
        domains, ports = "", {port: None for port, _, _ in servers}
        for port, (certificate, key), more in servers:
            name = f"[server:{self.address}:{port}]" if domains else "[server:default]"
            lines = {"method": "TLSv1.2+", "verify_certificate": "no", "require_certificate": "no", "certificate": certificate,
                     "private_key": key, **more}
            domains += name + "\n" + "".join(f"{key} = {value}\n" for key, value in lines.items()) + "\n"
        with open(f"{self.folder}/tls.cfg", "w") as file:
            file.write(domains + "[client:default]\nverify_certificate = no\nrequire_certificate = no\n")
        return "\n".join(["enable_tls=yes", *(f"listen=tls:{self.address}:{port}" for port in ports), 'loadmodule "tls.so"',
                          f'modparam("tls","config","{self.folder}/tls.cfg")'])

    def start(self):
        for name in ("pid", "ctl.sock"):
            if os.path.exists(f"{self.folder}/{name}"):
                os.unlink(f"{self.folder}/{name}")
        self.process.start()
        wait_until(lambda: self.rpc("core.uptime") or not self.process.alive(), 20, f"kamailio at {self.address} to start")
        if not self.process.alive():
            raise AssertionError(f"kamailio at {self.address} ended at once")
        return self

    def rpc(self, *words):
        done = subprocess.run(
            ["kamcmd", "-s", f"unix:{self.folder}/ctl.sock", *words], capture_output=True, text=True, timeout=10)
        return done.stdout if done.returncode == 0 else ""

    def contacts(self, user):
        """The contact addresses that are registered for a user."""
        found, inside = [], False
        for line in self.rpc("ul.dump").splitlines():
            key, _, value = line.strip().partition(": ")
            if key == "AoR":
                inside = value == user or value.startswith(f"{user}@")
            elif key == "Address" and inside:
                found.append(value)
        return found

    def wait_registered(self, user, count=1, timeout=30):
        return wait_until(lambda: len(self.contacts(user)) >= count and self.contacts(user), timeout,
                          f"{user} to be registered at {self.address}")

    def pause(self):
        """Hears and answers nothing until `go_on`; what comes meanwhile waits."""
        os.killpg(self.process.pid, signal.SIGSTOP)

    def go_on(self):
        os.killpg(self.process.pid, signal.SIGCONT)

    def kill(self):
        """Dies as a machine does: nothing is said to anyone, and all bindings are forgotten."""
        if self.process.alive():
            self.go_on()
        self.process.stop(signal.SIGTERM, 3)

    stop = kill

    def uri(self, user):
        return f"sip:{user}@{self.address}" + ("" if self.port == 5060 else f":{self.port}")
