"""As a service, shown where no systemd runs: the unit, readiness, watchdog, credentials, stopping; and the demo."""

import os
import shutil
import socket
import subprocess
import time

from peers import Baresip, DoorTest, Kamailio, PeerTest, Portero, account, missing, program, wait_until

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../systemd")
SILENT = "[audio]\nspeaker = silent\nmicrophone = silent\n[ringer]\ndevice = silent\n"


class Notify:
    """A notify socket: what the service said, in order."""

    def __init__(self, path):
        self.end = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.end.bind(path)
        self.path, self.lines = path, []

    def read(self):
        self.end.settimeout(0.01)
        try:
            while True:
                self.lines += self.end.recv(4096).decode().splitlines()
        except TimeoutError:
            return self.lines

    def said(self, start):
        return [line for line in self.read() if line.startswith(start)]

    def stop(self):
        self.end.close()


class Unit(PeerTest):
    def test_systemd_finds_no_fault(self):
        if not shutil.which("systemd-analyze"):
            missing("systemd-analyze")
        with open(f"{FOLDER}/portero.service") as file:
            text = file.read()
        with open(f"{self.base}/portero.service", "w") as file:
            file.write(text.replace("/usr/bin/portero", program()))
        done = subprocess.run(["systemd-analyze", "verify", f"{self.base}/portero.service"], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        root = f"{self.base}/root"
        os.makedirs(f"{root}/etc")
        for tool, name in (("systemd-sysusers", "portero.sysusers"), ("systemd-tmpfiles", "portero.tmpfiles")):
            words = [tool, f"--root={root}", *(["--create"] if "tmpfiles" in tool else []), f"{FOLDER}/{name}"]
            done = subprocess.run(words, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
        with open(f"{root}/etc/group") as file:
            groups = {line.split(":")[0]: line.strip().split(":")[3] for line in file}
        self.assertEqual((groups["audio"], groups["gpio"]), ("portero", "portero"))
        self.assertEqual(os.stat(f"{root}/etc/portero").st_mode & 0o777, 0o750)


class Service(DoorTest):
    def test_ready_status_watchdog_and_credentials(self):
        notify = self.keep(Notify(f"{self.base}/notify"))
        os.makedirs(f"{self.base}/credentials")
        with open(f"{self.base}/credentials/house", "w") as file:
            file.write(self.pbx.password + "\n")
        text = self.house().replace(f"password = {self.pbx.password}", "credential = house")
        env = {"NOTIFY_SOCKET": notify.path, "WATCHDOG_USEC": "2000000", "CREDENTIALS_DIRECTORY": f"{self.base}/credentials"}
        self.pbx.kill()
        door = self.start(Portero(self.host, self.base, self.whole(text), cards=[self.loud, self.mic, self.ring], env=env))
        wait_until(lambda: notify.said("READY=1"), 10, "READY without a registrar")
        self.pbx.start()
        door.do("register")
        door.wait_registered("house")
        wait_until(lambda: any("1" in line and "registered" in line for line in notify.said("STATUS=")), 10, "STATUS with the count")
        before = len(notify.said("WATCHDOG=1"))
        time.sleep(4)
        self.assertGreaterEqual(len(notify.said("WATCHDOG=1")) - before, 2)
        door.process.send(19)  # SIGSTOP: what hangs must not feed
        time.sleep(0.5)
        before = len(notify.said("WATCHDOG=1"))
        time.sleep(3)
        self.assertEqual(len(notify.said("WATCHDOG=1")), before)
        door.process.send(18)
        status, _ = door.stop()
        self.assertEqual(status, 0)
        self.assertTrue(notify.said("STOPPING=1"))

    def test_stopping_in_a_call(self):
        phone = self.start(Baresip(self.site.leg("kitchen"), self.base, "100", self.pbx, answer="auto"))
        self.pbx.wait_registered("100")
        door = self.door(self.house() + "[door front]\nrelay = sim:relay\nactive = high\nopen-time = 60s\n")
        door.do("dial", self.pbx.uri("100"))
        door.wait_call("talking")
        door.do("open", "front")
        door.wait_event("door", state="open")
        status, took = door.stop()
        self.note(f"stopped in {took:.2f} s")
        self.assertEqual(status, 0)
        self.assertLess(took, 6)
        phone.wait("CALL_CLOSED")
        self.assertEqual(self.pbx.contacts("front"), [])
        self.assertFalse(os.path.exists(door.socket))
        self.assertEqual(door.run("rest", "--config", door.configuration).returncode, 0)

    def test_no_secret_in_a_whole_trace(self):
        door = self.door(self.house() + "[log]\nlevel = trace\nsip = yes\n")
        door.do("register")
        time.sleep(2)
        text = door.process.text()
        self.assertIn("REGISTER sip:", text)
        self.assertNotIn(self.pbx.password, text)
        self.assertNotRegex(text, r'response="[0-9a-f]{16}')


class Demo(PeerTest):
    def test_the_demo_shows_what_it_promises(self):
        begin = time.monotonic()
        done = subprocess.run([program(), "demo"], capture_output=True, text=True, timeout=120)
        self.note(f"the demo took {time.monotonic() - begin:.0f} s")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertGreater(len(done.stdout.splitlines()), 10)

    def test_beside_a_running_appliance_and_as_any_user(self):
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base))
        door = self.start(Portero(self.site.leg("door"), self.base, SILENT + account("house", "front", pbx)))
        door.wait_registered("house")
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if shutil.which("setpriv") else []
        done = subprocess.run([*door.namespace.prefix, *user, program(), "demo"], capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(door.account("house")["state"], "registered")
