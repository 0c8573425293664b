"""The file: faults, the last good one, reload, provisioning; the command line's exit codes; followers of events."""

import http.client
import http.server
import json
import os
import signal
import socket
import subprocess
import threading
import time

from peers import DoorTest, Kamailio, PeerTest, Portero, account, program, wait_until

SILENT = "[audio]\nspeaker = silent\nmicrophone = silent\n[ringer]\ndevice = silent\n"


class File(PeerTest):
    def check(self, text):
        path = f"{self.base}/tried.ini"
        with open(path, "w") as file:
            file.write(text)
        return subprocess.run([program(), "check", path], capture_output=True, text=True, timeout=20), path

    def test_check_names_the_place_and_the_nearest_word(self):
        done, path = self.check("[device]\nname = x\n\n[button bell]\nline = sim:b\ndebounze = 20ms\npress = dial nobody\n")
        self.assertEqual(done.returncode, 1)
        lines = done.stdout.splitlines()
        self.assertEqual(len(lines), 2, done.stdout)
        self.assertTrue(lines[0].startswith(f"{path}:6: ") and "debounce" in lines[0], lines[0])
        self.assertTrue(lines[1].startswith(f"{path}:7: ") and "nobody" in lines[1], lines[1])
        done, _ = self.check("[button bell]\nline = sim:b\npress = none\n")
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_a_first_start_on_a_bad_file_ends_with_78(self):
        door = self.keep(Portero(self.site.leg("door"), self.base, "[nonsense]\n"))
        door.process.start()
        self.assertEqual(door.process.wait(20), 78)
        self.assertRegex(door.process.text(), r"portero\.ini:\d+: .*nonsense")

    def test_the_last_good_configuration_starts_it(self):
        pbx = self.start(Kamailio(self.site.leg("pbx"), self.base))
        good = SILENT + account("house", "front", pbx) + "[led fault]\nline = sim:fault\nfault = on\nidle = off\n"
        door = self.start(Portero(self.site.leg("door"), self.base, good))
        door.wait_registered("house")
        self.assertEqual(door.status()["device"]["configuration"]["state"], "current")
        door.stop()
        door.write(good + "[nonsense]\n")
        with open(door.configuration) as file:
            before = file.read()
        door.start()
        door.wait_registered("house")
        self.assertEqual(door.status()["device"]["configuration"]["state"], "last-good")
        self.assertTrue(door.status()["faults"])
        self.assertEqual(door.led("fault")["state"], "fault")
        with open(door.configuration) as file:
            self.assertEqual(file.read(), before, "the operator's file is never written")

    def test_words_and_exit_codes(self):
        door = self.start(Portero(self.site.leg("door"), self.base, SILENT))
        for words, code in ((["status"], 0), (["no-such-word"], 2), (["press"], 2), (["press", "nothing"], 1), (["answer"], 1),
                            (["log", "loud"], 2), (["log", "debug", "sip"], 0), (["log", "notice"], 0), (["version"], 0)):
            done = door.run(*words)
            self.assertEqual(done.returncode, code, f"{words}: {done.stdout} {done.stderr}")
            if code:
                self.assertTrue(done.stderr.strip(), f"{words} says why")
        door.stop()
        self.assertEqual(door.run("status").returncode, 3)
        self.assertEqual(subprocess.run([program(), "status", "--socket", f"{self.base}/none"], capture_output=True).returncode, 3)


class Reload(DoorTest):
    def test_it_changes_only_what_changed(self):
        phone_less = self.house() + account("office", "office", self.pbx)
        door = self.door(phone_less)
        door.wait_registered("office")
        kept = self.pbx.contacts("front")
        call_id = self.call_id("front")
        door.write(self.whole(self.house() + account("other", "other", self.pbx)))
        door.do("reload")
        door.wait_registered("house", "other")
        wait_until(lambda: not self.pbx.contacts("office"), 15, "the account that went to be unregistered")
        self.assertEqual(self.pbx.contacts("front"), kept)
        self.assertEqual(self.call_id("front"), call_id)
        self.assertTrue(door.seen("configuration", state="current"))

        door.write(self.whole(self.house() + "[nonsense]\n"))
        done = door.run("reload")
        self.assertEqual(done.returncode, 1)
        self.assertIn("nonsense", done.stderr)
        door.wait_event("configuration", state="refused")
        self.assertEqual({one["name"] for one in door.status()["accounts"]}, {"house", "other"}, "it keeps running")
        door.write(self.whole(self.house()))
        door.process.send(signal.SIGHUP)
        wait_until(lambda: [one["name"] for one in door.status()["accounts"]] == ["house"], 15, "SIGHUP to reload")
        self.assertEqual(self.call_id("front"), call_id)

    def call_id(self, user):
        inside = False
        for line in self.pbx.rpc("ul.dump").splitlines():
            key, _, value = line.strip().partition(": ")
            if key == "AoR":
                inside = value == user
            elif key == "Call-ID" and inside:
                return value
        return None

    def test_provisioning(self):
        served = {"text": "", "tag": '"1"', "asked": [], "status": 200}

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                served["asked"].append(self.headers.get("If-None-Match"))
                same = self.headers.get("If-None-Match") == served["tag"]
                self.send_response(304 if same and served["status"] == 200 else served["status"])
                self.send_header("ETag", served["tag"])
                body = b"" if same else served["text"].encode()
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = self.host.inside(lambda: http.server.ThreadingHTTPServer(("127.0.0.1", 8080), Handler))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        served["text"] = account("more", "more", self.pbx)
        text = self.house() + "[provisioning]\nurl = http://127.0.0.1:8080/{mac}.ini\nevery = 1h\n"
        door = self.door(text)
        door.wait_registered("more")
        self.assertEqual(door.status()["device"]["configuration"]["state"], "provisioned")
        door.do("reload")
        wait_until(lambda: '"1"' in served["asked"], 15, "a question with the ETag")
        served.update(text="[nonsense]\n", tag='"2"')
        door.do("reload")
        door.wait_event("configuration", state="refused")
        self.assertEqual(door.account("more")["state"], "registered")
        served.update(text="", tag='"3"')
        asked = len(served["asked"])
        door.do("reload")
        wait_until(lambda: len(served["asked"]) > asked and "empty" in door.run("status").stdout, 15, "the empty file to be told of")
        self.assertEqual(door.account("more")["state"], "registered", "an empty file takes nothing away")
        door.stop()
        served["status"] = 500
        door.start()
        door.wait_registered("house", "more")
        # Another URL: the tag of the former counts for nothing; without one nothing is provisioned.
        served.update(text=account("other", "other", self.pbx), tag='"1"', status=200)
        door.write(self.whole(text.replace("{mac}", "another")))
        door.do("reload")
        door.wait_registered("other")
        door.write(self.whole(self.house()))
        door.do("reload")
        self.assertEqual([one["name"] for one in door.status()["accounts"]], ["house"])
        self.assertEqual(door.status()["device"]["configuration"]["state"], "current")


class Unix(http.client.HTTPConnection):
    """HTTP over a control socket."""

    def __init__(self, path):
        super().__init__("portero", timeout=20)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Followers(PeerTest):
    def test_a_slow_one_is_told_how_many_events_it_missed(self):
        space = self.site.leg("door")
        silent = account("house", "front", Kamailio(self.site.leg("pbx"), self.base), register="no")
        door = self.start(Portero(space, self.base, SILENT + silent))
        slow = Unix(door.socket)
        self.addCleanup(slow.close)
        slow.request("GET", "/v1/events")
        stream = slow.getresponse()
        self.assertEqual(stream.status, 200)
        busy, made = Unix(door.socket), 0
        self.addCleanup(busy.close)
        while not door.seen("call", cause="failed") or made < 1500:  # nobody is there: each call ends at once
            busy.request("POST", "/v1/calls", json.dumps({"target": f"sip:nobody@{space.address}:9"}))
            busy.getresponse().read()
            made += 1
        busy.request("GET", "/v1/status")
        self.assertEqual(busy.getresponse().status, 200, "others are served")
        heard = []
        while not any(event["event"] == "missed" for event in heard):
            line = stream.readline().decode()
            if line.startswith("data: "):
                heard.append(json.loads(line[6:]))
        self.assertGreater(heard[-1]["count"], 0)
        self.note(f"{len(heard) - 1} events heard, then {heard[-1]['count']} missed, of {made} calls")

    def test_many_clients_and_a_slow_one(self):
        door = self.start(Portero(self.site.leg("door"), self.base, SILENT + "[button bell]\nline = sim:bell\nactive = high\nbias = disabled\npress = none\n"))
        slow = subprocess.Popen([program(), "events", "--json", "--socket", door.socket], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(slow.stdout.close)
        self.addCleanup(slow.wait)
        self.addCleanup(slow.kill)
        slow.send_signal(signal.SIGSTOP)
        clients = [subprocess.Popen([program(), "status", "--json", "--socket", door.socket], stdout=subprocess.DEVNULL) for _ in range(20)]
        self.assertEqual([client.wait(30) for client in clients], [0] * 20)
        for _ in range(30):
            door.press("bell", 0.05)
            time.sleep(0.15)
        door.wait_event("button", name="bell", action="press", count=30)
        slow.send_signal(signal.SIGCONT)
        begin = time.monotonic()
        self.assertEqual(door.run("status").returncode, 0)
        self.note(f"status took {time.monotonic() - begin:.2f} s beside a slow follower")
        self.assertTrue(os.path.exists(door.socket))
        self.assertEqual(os.stat(door.socket).st_mode & 0o777, 0o660)
