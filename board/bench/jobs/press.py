#!/usr/bin/env python3
"""i. A press: from the end of debounce to the INVITE on the wire, by the kernel's time stamp. The press comes by the control
socket; the time starts before it is sent, so the figure is an upper bound. Peers have no buttons: the product alone.
press.py [-m PRESSES]"""
import sys, os, time, argparse, http.client, socket
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)) + "/../lib"); from benchlib import *
ap = argparse.ArgumentParser(); ap.add_argument("-m", type=int, default=40); ap.add_argument("c", nargs="*")
a = ap.parse_args(); registrar("stop"); registrar("start")
DEBOUNCE = 20.0                                              # ms

class Control(http.client.HTTPConnection):
    def __init__(self, path): super().__init__("portero", timeout=10); self.path = path
    def connect(self): self.sock = socket.socket(socket.AF_UNIX); self.sock.connect(self.path)
    def post(self, path, body="{}"):
        self.request("POST", path, body); r = self.getresponse(); r.read(); return r.status

c = Contestant("product", "-press").prepare(2)
user = int(os.environ.get("USER_BASE", 1000)) + 1
with open(c.dir + "/portero.ini", "a") as ini:
    for i in range(a.m):
        ini.write(f"[button b{i}]\nline = sim:b{i}\nactive = high\nbias = disabled\ndebounce = {DEBOUNCE:.0f}ms\npress = dial sip:{user}@{IP_SRV}:9\n")
c.start(); time.sleep(2); s = Sniff(); control = Control(c.dir + "/portero.sock"); took = []
for i in range(a.m):
    t0 = time.time_ns(); status = control.post(f"/v1/buttons/b{i}/press"); invites = []
    while time.time_ns() - t0 < 2e9:
        invites = [x for x in s.rows() if x["line"].startswith("INVITE") and x["src"] == IP_DUT and x["ts"] > t0]
        if invites: break
        time.sleep(0.01)
    if not invites: sys.exit(f"press {i} (HTTP {status}) made no call")
    took.append((invites[0]["ts"] - t0) / 1e6 - DEBOUNCE)
    control.post("/v1/calls/hangup"); time.sleep(0.1)
c.stop(); s.close(); took.sort()
print(f"product    presses={len(took)} end of debounce -> INVITE  p50 {med(took):6.2f} ms  p99 {took[int(len(took) * .99) - 1]:6.2f} ms  worst {took[-1]:6.2f} ms")
save("press", [dict(contestant="product", ms=took)])
