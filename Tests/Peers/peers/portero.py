"""Portero itself: a generated configuration, the process, and its command line."""

import json
import os
import signal
import subprocess
import threading
import time

from .card import Card
from .process import Process, missing, wait_until


def program():
    """The executable under test: $PORTERO, else the debug build."""
    here = os.path.join(os.path.dirname(__file__), "../../..")
    path = os.environ.get("PORTERO") or os.path.join(here, ".build/debug/portero")
    return os.path.abspath(path) if os.path.exists(path) else missing(f"portero ({path})")


def account(name, user, registrar, /, **keys):
    """An account section; in the keys `_` stands for `-`."""
    lines = {"uri": registrar.uri(user), "password": registrar.password, "transport": "udp", "expires": 60}
    lines.update({key.replace("_", "-"): value for key, value in keys.items()})
    return f"[account {name}]\n" + "".join(f"{key} = {value}\n" for key, value in lines.items())


class Portero:
    """An appliance in a namespace. `text` is its INI file without state-directory and socket, which are its folder's."""

    def __init__(self, namespace, base, text, name="portero", cards=(), env=None):
        self.namespace, self.folder = namespace, os.path.join(base, name)
        os.makedirs(f"{self.folder}/state", exist_ok=True)
        self.configuration, self.socket = f"{self.folder}/portero.ini", f"{self.folder}/socket"
        self.cards = {}
        self.env = dict(env or {})
        if cards:
            self.cards = {card.name: card for card in cards}
            self.env.update(Card.configuration(self.folder, list(cards)))
        self.write(text)
        self.process = Process([program(), "run", "--config", self.configuration], f"{self.folder}/log", namespace, self.env)
        self.events, self._follower = [], None

    def write(self, text):
        """Replaces the configuration; a running appliance reads it with `reload`."""
        own = f"state-directory = {self.folder}/state\nsocket = {self.socket}\n"
        if "[device]" in text:
            text = text.replace("[device]\n", "[device]\n" + own, 1)
        else:
            text = "[device]\nname = Test door\n" + own + text
        with open(self.configuration + ".new", "w") as file:
            file.write(text)
        os.rename(self.configuration + ".new", self.configuration)

    def start(self, follow=True):
        """Starts, waits until it answers, and follows its events."""
        self.process.start()
        wait_until(lambda: self._answers() or not self.process.alive(), 20, "portero to answer at its socket")
        if not self.process.alive():
            raise AssertionError(f"portero ended with {self.process.child.returncode}:\n{self.process.text()[-3000:]}")
        if follow:
            self.follow()
        return self

    def _answers(self):
        return self.run("status", "--json").returncode == 0

    # The command line

    def run(self, *words, timeout=20):
        """Runs `portero WORDS` against this appliance."""
        return subprocess.run([program(), *map(str, words), "--socket", self.socket], capture_output=True, text=True,
                              timeout=timeout, stdin=subprocess.DEVNULL)

    def do(self, *words):
        """As `run`, but it must succeed; returns what it printed."""
        done = self.run(*words)
        if done.returncode:
            raise AssertionError(f"portero {' '.join(map(str, words))} ended with {done.returncode}: {done.stderr.strip()}")
        return done.stdout.strip()

    def status(self):
        return json.loads(self.do("status", "--json"))

    def account(self, name):
        return next(account for account in self.status()["accounts"] if account["name"] == name)

    def calls(self):
        return [call for call in self.status()["calls"] if call["state"] != "ended"]

    def led(self, name):
        return next(led for led in self.status()["leds"] if led["name"] == name)

    def door(self, name):
        return next(door for door in self.status()["doors"] if door["name"] == name)

    def press(self, button, seconds=None):
        self.do("press", button, *(["--for", f"{seconds}s"] if seconds else []))

    # Waiting

    def wait_registered(self, *names, timeout=30):
        def all_there():
            states = {account["name"]: account["state"] for account in self.status()["accounts"]}
            return all(states[name] == "registered" for name in names)
        return wait_until(all_there, timeout, f"{', '.join(names)} to be registered", 0.1)

    def wait_call(self, state, timeout=30, **fields):
        """Waits for a call in that state (with those values) and returns it."""
        def there():
            return next((call for call in self.calls() if call["state"] == state
                         and all(call.get(key) == value for key, value in fields.items())), None)
        return wait_until(there, timeout, f"a call that is {state} {fields or ''}", 0.1)

    def wait_quiet(self, timeout=30):
        return wait_until(lambda: not self.calls(), timeout, "every call to end", 0.1)

    def follow(self):
        """Follows `events --json` from now on into `events`."""
        self._follower = subprocess.Popen([program(), "events", "--json", "--socket", self.socket],
                                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)

        def read(stream):
            for line in stream:
                event = json.loads(line)
                event["_seen"] = time.time()
                self.events.append(event)

        threading.Thread(target=read, args=(self._follower.stdout,), daemon=True).start()
        time.sleep(0.3)

    def seen(self, event, since=0, **fields):
        """The events of that kind with those values, from number `since` on."""
        return [one for one in self.events[since:] if one["event"] == event
                and all(one.get(key) == value for key, value in fields.items())]

    def wait_event(self, event, since=0, timeout=30, count=1, **fields):
        wait_until(lambda: len(self.seen(event, since, **fields)) >= count, timeout, f"{count} × event {event} {fields}")
        return self.seen(event, since, **fields)[-1]

    # The process

    @property
    def pid(self):
        return self.process.pid

    def has_loaded(self, library):
        with open(f"/proc/{self.pid}/maps") as file:
            return library in file.read()

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def udp_sockets(self):
        """How many it has open: nothing else runs in its namespace."""
        return len(self.namespace.run("ss", "-uanH").stdout.splitlines())

    def wake_ups(self, seconds):
        """How often its threads woke up in that time."""
        def count():
            total = 0
            for task in os.listdir(f"/proc/{self.pid}/task"):
                with open(f"/proc/{self.pid}/task/{task}/status") as file:
                    total += next(int(line.split()[1]) for line in file if line.startswith("voluntary"))
            return total
        before = count()
        time.sleep(seconds)
        return count() - before

    def resident(self):
        """Resident memory, KiB."""
        with open(f"/proc/{self.pid}/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))

    def stop(self, number=signal.SIGTERM):
        """Ends the appliance and returns (exit status, seconds that it took)."""
        begin = time.monotonic()
        status = self.process.stop(number, 15)
        took = time.monotonic() - begin
        if self._follower:
            self._follower.terminate()
            self._follower.wait(5)
            self._follower.stdout.close()
            self._follower = None
        return status, took
