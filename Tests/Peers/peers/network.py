"""Network namespaces: a router, and one leg for each host behind it."""

import atexit
import ctypes
import os
import shutil
import subprocess
import threading

from .process import need

_libc = ctypes.CDLL(None, use_errno=True)
_CLONE_NEWNET = 0x40000000


def ip(*words, check=True):
    done = subprocess.run(["ip", *words], capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done


class Namespace:
    """A network namespace whose name carries this run's process id."""

    def __init__(self, name):
        self.name = f"portero-{os.getpid()}-{name}"
        need("ip")
        ip("netns", "add", self.name)
        atexit.register(self.remove)
        self.ip("link", "set", "lo", "up")

    @property
    def prefix(self):
        """What to put before a command so that it runs here; the process keeps its id."""
        return ["ip", "netns", "exec", self.name]

    def ip(self, *words, check=True):
        return ip("-n", self.name, *words, check=check)

    def run(self, *argv, timeout=30):
        return subprocess.run(self.prefix + list(argv), capture_output=True, text=True, timeout=timeout)

    def set_name_server(self, *addresses):
        folder = f"/etc/netns/{self.name}"
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/resolv.conf", "w") as file:
            file.writelines(f"nameserver {address}\n" for address in addresses)
            file.write("options timeout:1 attempts:2\n")

    def inside(self, make):
        """Calls `make` in a thread that has entered this namespace; a socket made there belongs to it."""
        box = []

        def body():
            with open(f"/run/netns/{self.name}") as file:
                if _libc.setns(file.fileno(), _CLONE_NEWNET):
                    box.append(OSError(ctypes.get_errno(), "setns"))
                    return
            try:
                box.append(make())
            except Exception as problem:  # handed to the caller's thread below
                box.append(problem)

        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
        if isinstance(box[0], Exception):
            raise box[0]
        return box[0]

    def remove(self):
        ip("netns", "del", self.name, check=False)
        shutil.rmtree(f"/etc/netns/{self.name}", ignore_errors=True)
        atexit.unregister(self.remove)


def remove_leftovers():
    """Namespaces of runs that were killed: those whose process id in the name lives no more."""
    for line in ip("netns", "list", check=False).stdout.splitlines():
        name = line.split()[0] if line.split() else ""
        words = name.split("-")
        if len(words) >= 3 and words[0] == "portero" and words[1].isdigit() and not os.path.exists(f"/proc/{words[1]}"):
            ip("netns", "del", name, check=False)
            shutil.rmtree(f"/etc/netns/{name}", ignore_errors=True)


class Site:
    """A router and, for every leg N, a host at 10.77.N.2 (and fd77:N::2) behind 10.77.N.1."""

    def __init__(self):
        self.legs = {}
        self.router = Namespace("router")
        self.router.run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward; echo 1 >/proc/sys/net/ipv6/conf/all/forwarding")

    def leg(self, name):
        """The namespace of that name, made at its first mention."""
        if name not in self.legs:
            number = len(self.legs) + 1
            space = Namespace(name)
            space.number, space.link = number, f"to{number}"
            space.address, space.gateway = f"10.77.{number}.2", f"10.77.{number}.1"
            space.address6, space.gateway6 = f"fd77:{number}::2", f"fd77:{number}::1"
            self.router.ip("link", "add", space.link, "type", "veth", "peer", "name", "eth0", "netns", space.name)
            self.router.ip("addr", "add", f"{space.gateway}/24", "dev", space.link)
            self.router.ip("addr", "add", f"{space.gateway6}/64", "dev", space.link, "nodad")
            self.router.ip("link", "set", space.link, "up")
            space.ip("addr", "add", f"{space.address}/24", "dev", "eth0")
            space.ip("addr", "add", f"{space.address6}/64", "dev", "eth0", "nodad")
            # as on any board whose addresses a DHCP client changes
            space.run("sh", "-c", "echo 1 >/proc/sys/net/ipv4/conf/all/promote_secondaries")
            space.ip("link", "set", "eth0", "up")
            space.ip("route", "add", "default", "via", space.gateway)
            space.ip("route", "add", "default", "via", space.gateway6, check=False)
            space.set_name_server(space.gateway)
            self.legs[name] = space
        return self.legs[name]

    def change_address(self, name, new):
        """Gives the host of that leg another address of its subnet and takes the old one away; its route stays."""
        space = self.legs[name]
        old = space.address
        space.ip("addr", "add", f"{new}/24", "dev", "eth0")
        space.ip("addr", "del", f"{old}/24", "dev", "eth0")
        space.address = new
        # the new address is the subnet's primary one now; the kernel dropped the routes of the old
        space.ip("route", "replace", "default", "via", space.gateway)

    def cable(self, name, plugged):
        """Takes or gives the carrier of that leg's host."""
        space = self.legs[name]
        self.router.ip("link", "set", space.link, "up" if plugged else "down")
        if plugged:  # the router's IPv6 address went with the link
            self.router.ip("addr", "replace", f"{space.gateway6}/64", "dev", space.link, "nodad", check=False)

    def remove(self):
        for space in [*self.legs.values(), self.router]:
            space.remove()
