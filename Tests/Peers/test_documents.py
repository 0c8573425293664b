"""The documents that scripts rely on: the status and the events, name by name."""

import re

from peers import Baresip, DoorTest, wait_until

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
TEXT, NUMBER, FLAG = str, (int, float), bool

# What a call, an account and the rest show while a call is up and a door has a sensor-less relay.
STATUS = {
    "device": {"name": TEXT, "version": TEXT, "uptime": NUMBER, "configuration": {"file": TEXT, "state": TEXT}},
    "network": {"state": TEXT, "addresses": [TEXT], "changes": int},
    "accounts": [{
        "name": TEXT, "uri": TEXT, "state": TEXT, "expires-in": NUMBER, "contact": TEXT, "transport": TEXT, "registrar": TEXT,
        "code": int, "reason": TEXT, "since": TIME, "next-attempt-in": NUMBER}],
    "calls": [{
        "id": TEXT, "direction": TEXT, "state": TEXT, "account": TEXT, "remote": TEXT, "codec": TEXT, "srtp": TEXT,
        "hold": TEXT, "muted": FLAG, "since": TIME, "duration": NUMBER,
        "rtp": {"sent": int, "received": int, "lost": int, "jitter-ms": NUMBER, "mos": NUMBER}}],
    "buttons": [{"name": TEXT, "line": TEXT, "pressed": FLAG}],
    "leds": [{"name": TEXT, "line": TEXT, "state": TEXT, "lit": FLAG}],
    "doors": [{"name": TEXT, "relay": FLAG}],
    "audio": {"speaker": TEXT, "microphone": TEXT, "ringer": TEXT, "xruns": int},
    "faults": [],
}
EVENTS = {
    "account": {"name": TEXT, "state": TEXT},
    "network": {"state": TEXT, "addresses": list},
    "button": {"name": TEXT, "action": TEXT},
    "call": {"id": TEXT, "state": TEXT, "direction": TEXT, "account": TEXT, "remote": TEXT},
    "dtmf": {"call": TEXT, "by": TEXT},
    "led": {"name": TEXT},
    "door": {"name": TEXT, "state": TEXT, "by": TEXT},
    "stopping": {},
}


def faults(value, form, place):
    """Where the value differs from the form; more names than the form has are no fault."""
    if isinstance(form, dict):
        if not isinstance(value, dict):
            return [f"{place} is {value!r}"]
        missing = [f"{place}.{name} is missing" for name in form if name not in value]
        return missing + [fault for name in form if name in value for fault in faults(value[name], form[name], f"{place}.{name}")]
    if isinstance(form, list):
        if not isinstance(value, list) or bool(value) != bool(form):
            return [f"{place} is {value!r}"]
        return [fault for index, one in enumerate(value) for fault in faults(one, form[0], f"{place}[{index}]")]
    if isinstance(form, re.Pattern):
        return [] if isinstance(value, str) and form.match(value) else [f"{place} is {value!r}"]
    wrong = not isinstance(value, form) or (isinstance(value, bool) and form is not FLAG)
    return [f"{place} is {value!r}"] if wrong else []


class Documents(DoorTest):
    def test_every_name_is_there(self):
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx, answer="auto"))
        self.pbx.wait_registered("100")
        door = self.door(self.house() + f"""
[door front]
relay = sim:relay
active = high
code = 4711
[button service]
line = sim:service
active = high
bias = disabled
press = dial {self.pbx.uri("100")}
hold = open front
hold-time = 300ms
while-talking = none
""")
        door.do("press", "service")
        call = door.wait_call("talking")
        phone.send_digits("5")
        door.wait_event("dtmf")
        door.press("service", 1)
        opened = door.wait_event("door", state="open")
        self.assertEqual(opened["by"], "button service")
        wait_until(lambda: (rtp := door.calls()[0]["rtp"])["received"] > 0 and "mos" in rtp, 20, "the sound's figures")
        self.assertEqual(faults(door.status(), STATUS, "status"), [])
        door.do("register")
        door.do("network", "down")
        door.wait_event("network", state="down")
        door.do("network", "auto")
        door.wait_event("network", state="up")
        door.do("hangup", call["id"])
        ended = door.wait_event("call", state="ended")
        self.assertEqual(faults(ended, {"code": int, "reason": TEXT, "cause": TEXT}, "ended"), [])
        door.stop()
        for name, form in EVENTS.items():
            seen = door.seen(name)
            self.assertTrue(seen, f"no event {name}")
            for event in seen:
                self.assertEqual(faults(event, {"time": TIME, **form}, name), [])
        self.assertFalse([event for event in door.seen("dtmf") if "digit" in event], "a digit may be of a code")
