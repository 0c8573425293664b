"""SIPp for the odd sequences: one scenario of ../sipp, run to its end or in the background."""

import os

from .process import Process, need

_SCENARIOS = os.path.join(os.path.dirname(__file__), "../sipp")


class Sipp:
    """A scenario file by its name, in a namespace. `values` become [NAME] keywords."""

    def __init__(self, namespace, base, scenario, target="", user="service", port=6060, calls=1, rate=10, limit=None,
                 transport="u1", values=None, extra=(), ipv6=False):
        self.scenario, self.namespace, self.port = scenario, namespace, port
        own = namespace.address6 if ipv6 else namespace.address
        self.folder = os.path.join(base, f"sipp-{scenario}-{port}")
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(_SCENARIOS, scenario + ".xml")
        if values:
            with open(path) as file:
                text = file.read()
            for key, value in values.items():
                text = text.replace(f"[{key}]", str(value))
            path = f"{self.folder}/{scenario}.xml"
            with open(path, "w") as file:
                file.write(text)
        self.process = Process(
            [need("sipp"), "-sf", path, *([target] if target else []), "-s", user, "-i", own, "-p", str(port),
             "-m", str(calls), "-r", str(rate), *(["-l", str(limit)] if limit else []), "-t", transport, "-nostdin",
             "-trace_err", "-error_file", f"{self.folder}/errors", "-trace_msg", "-message_file", f"{self.folder}/messages",
             "-timeout", "120", *extra], f"{self.folder}/log", namespace, {"TERM": "dumb"}, self.folder)

    def start(self):
        self.process.start()
        return self

    def finish(self, timeout=60):
        """Waits for the end of the scenario; fails with SIPp's own reason when a call went another way."""
        status = self.process.wait(timeout)
        if status != 0:
            raise AssertionError(f"SIPp {self.scenario} ended with {status}: {self.reason()}")

    def run(self, timeout=60):
        self.start()
        self.finish(timeout)

    def reason(self):
        for name in ("errors", "log"):
            path = f"{self.folder}/{name}"
            if os.path.exists(path) and os.path.getsize(path):
                with open(path, errors="replace") as file:
                    return f"{file.read()[-1500:]}\n{self.messages()[-6000:]}"
        return ""

    def messages(self):
        path = f"{self.folder}/messages"
        if not os.path.exists(path):
            return ""
        with open(path, errors="replace") as file:
            return file.read()

    def stop(self):
        return self.process.stop()
