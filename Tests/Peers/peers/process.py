"""Processes that never outlive the run, and waiting on conditions."""

import os
import shutil
import signal
import subprocess
import time
import unittest

# It execs what follows: the child dies with this run, and keeps its process id.
_DIES_WITH_US = ["setpriv", "--pdeathsig", "TERM", "--"]


def missing(what):
    """A peer that is not there: an error in CI, a named skip on a desk."""
    message = f"{what} is missing (board/packages, purpose test)"
    if os.environ.get("CI") == "true":
        raise RuntimeError(message)
    raise unittest.SkipTest(message)


def need(program):
    path = shutil.which(program) or shutil.which(program, path="/usr/sbin:/sbin")
    return path or missing(program)


def long(test):
    """Marks a test that takes longest: it begins first."""
    test.long = True
    return test


def wait_until(condition, timeout=30.0, what="", every=0.05):
    """Waits for a truthy value of `condition` and returns it; says what it waited for when the time is over."""
    end = time.monotonic() + timeout
    last = None
    while True:
        try:
            value = condition()
            last = None
        except (AssertionError, OSError, KeyError, IndexError, ValueError) as problem:
            value, last = None, problem
        if value:
            return value
        if time.monotonic() >= end:
            because = f" ({last})" if last else ""
            raise AssertionError(f"waited {timeout:g} s in vain for {what or condition}{because}")
        time.sleep(every)


class Process:
    """A child in a namespace with its output in a file. Ended by its own process id."""

    def __init__(self, argv, log, namespace=None, env=None, cwd=None):
        self.argv, self.log, self.namespace = list(argv), log, namespace
        self.env = dict(os.environ, **(env or {}))
        self.cwd, self.child = cwd, None

    def start(self):
        prefix = self.namespace.prefix if self.namespace else []
        with open(self.log, "ab") as out:
            self.child = subprocess.Popen(
                prefix + _DIES_WITH_US + self.argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, env=self.env,
                cwd=self.cwd, start_new_session=True)
        return self

    @property
    def pid(self):
        return self.child.pid

    def alive(self):
        return self.child is not None and self.child.poll() is None

    def send(self, number):
        if self.alive():
            os.kill(self.child.pid, number)

    def wait(self, timeout=10):
        return self.child.wait(timeout)

    def stop(self, number=signal.SIGTERM, patience=5):
        """Asks, then insists; returns the exit status."""
        if self.child is None:
            return None
        self.send(number)
        try:
            return self.child.wait(patience)
        except subprocess.TimeoutExpired:
            self.send(signal.SIGKILL)
            return self.child.wait(5)

    def text(self):
        try:
            with open(self.log, "rb") as file:
                return file.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""
