"""Three `consort serve` over a PostgreSQL of three nodes under Patroni (quorum commit), under load. The primary is killed,
loses its machine, is frozen and is moved on purpose, CONSORT_FAILOVERS times each: nothing that was acknowledged is lost, no run
fails, no server is evicted, and the work goes on in time. `scripts/patroni` installs what this needs."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psycopg

ROUNDS = int(os.environ.get("CONSORT_FAILOVERS", "1"))
SEED = int(os.environ.get("CONSORT_CHAOS_SEED", str(time.time_ns() // 1000)))
# The longest stall of each trouble in seconds. Patroni waits for `ttl` until it believes that a machine is gone.
STALL_MAX = {"killed": 25, "machine": 25, "frozen": 25 + 15, "switchover": 5}
PATIENCE = 180
# Runs that are begun in a second, and the time a model takes.
PACE = 3
MOMENT = 0.3
BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))[-1]
AS_POSTGRES = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []


def free_port():
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))
        return made.getsockname()[1]


def until(what, wanted, patience=PATIENCE):
    """Asks again until the answer is true, and returns it."""
    end = time.monotonic() + patience
    while True:
        try:
            if answer := wanted():
                return answer
        except (OSError, urllib.error.URLError, ValueError, psycopg.Error) as error:
            last = error
        else:
            last = None
        if time.monotonic() > end:
            raise SystemExit(f"{what} does not happen within {patience} s: {last}")
        time.sleep(0.1)


def ask(url, body=None, headers=(), timeout=30):
    """Returns the status and the JSON of an answer, whatever it is."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json", "accept": "application/json", **dict(headers)})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            status, text = answer.status, answer.read()
    except urllib.error.HTTPError as error:
        status, text = error.code, error.read()
    try:
        return status, json.loads(text)
    except ValueError:
        return status, {"text": text.decode(errors="replace")}


class Outside(BaseHTTPRequestHandler):
    """A model that calls a tool once, and the tool, which may be called once."""

    protocol_version = "HTTP/1.1"
    calls = []

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.body() or "{}")
        time.sleep(MOMENT)
        if self.path == "/door":
            Outside.calls.append(self.headers["idempotency-key"])
            return self.answer("text/plain", "done")
        offered = any(tool["function"]["name"] == "door" for tool in body.get("tools", []))
        if offered and not any(message["role"] == "tool" for message in body["messages"]):
            call = {"index": 0, "id": "c", "type": "function", "function": {"name": "door", "arguments": "{}"}}
            choice = {"delta": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}
        else:
            choice = {"delta": {"role": "assistant", "content": "through"}, "finish_reason": "stop"}
        piece = json.dumps({"choices": [{"index": 0, **choice}]})
        return self.answer("text/event-stream", f"data: {piece}\n\ndata: [DONE]\n\n")

    def body(self):
        if length := self.headers["content-length"]:
            return self.rfile.read(int(length))
        text = b""
        # In chunks, each with its length before it, the last of which is empty.
        while size := int(self.rfile.readline(), 16):
            text += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return text

    def answer(self, kind, text):
        try:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(text)))
            self.end_headers()
            self.wfile.write(text.encode())
        except OSError:
            self.close_connection = True


class Member:
    """A PostgreSQL under Patroni."""

    def __init__(self, home, name, etcd):
        self.name, self.home = name, home
        self.port, self.rest = free_port(), free_port()
        self.data = home / name
        trust = ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
        users = {"superuser": {"username": "postgres"}, "replication": {"username": "replicator"}}
        dcs = {
            # The shortest that Patroni allows, and a loop that fits into it.
            "ttl": 20,
            "loop_wait": 4,
            "retry_timeout": 8,
            "synchronous_mode": "quorum",
            "postgresql": {"use_pg_rewind": True, "parameters": {"max_connections": 200}},
        }
        config = {
            "scope": "consort",
            "name": name,
            "restapi": {"listen": f"127.0.0.1:{self.rest}", "connect_address": f"127.0.0.1:{self.rest}"},
            "etcd3": {"hosts": [f"127.0.0.1:{etcd}"]},
            "bootstrap": {"dcs": dcs, "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, "data-checksums"]},
            "postgresql": {
                "listen": f"127.0.0.1:{self.port}",
                "connect_address": f"127.0.0.1:{self.port}",
                "data_dir": str(self.data),
                "bin_dir": str(BINARIES),
                "pgpass": str(home / f"{name}.pass"),
                "pg_hba": trust,
                "authentication": users,
                "parameters": {"unix_socket_directories": str(home)},
            },
        }
        self.config = home / f"{name}.json"
        self.config.write_text(json.dumps(config))
        self.log = open(home / f"{name}.log", "ab")
        self.start()

    def start(self):
        command = [*AS_POSTGRES, str(Path(sys.executable).with_name("patroni")), str(self.config)]
        self.patroni = subprocess.Popen(command, cwd=self.home, stdout=self.log, stderr=self.log)

    def postmaster(self):
        return int((self.data / "postmaster.pid").read_text().splitlines()[0])

    def processes(self):
        """Returns the ids of the processes of its PostgreSQL, the first of them the one that starts the others."""
        first = self.postmaster()
        children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
        return [first, *map(int, children)]

    def signal(self, number, with_patroni):
        if with_patroni:
            self.patroni.send_signal(number)
        for process in self.processes():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def state(self):
        return ask(f"http://127.0.0.1:{self.rest}/patroni", timeout=5)[1]

    def stop(self):
        for process in [*self.processes_or_none(), self.patroni.pid]:
            for number in (signal.SIGCONT, signal.SIGKILL):
                try:
                    os.kill(process, number)
                except ProcessLookupError:
                    pass
        self.patroni.wait()

    def processes_or_none(self):
        try:
            return self.processes()
        except (OSError, ValueError, IndexError):
            return []


class Database:
    """Three of them, and the store in which they agree."""

    def __init__(self, home):
        etcd, peers = free_port(), free_port()
        url, peer = f"http://127.0.0.1:{etcd}", f"http://127.0.0.1:{peers}"
        command = ["etcd", "--data-dir", str(home / "etcd"), "--listen-client-urls", url, "--advertise-client-urls", url]
        command += ["--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--initial-cluster", f"default={peer}"]
        log = open(home / "etcd.log", "ab")
        self.etcd = subprocess.Popen([*AS_POSTGRES, *command], cwd=home, stdout=log, stderr=log)
        self.members = [Member(home, f"db{number}", etcd) for number in range(3)]
        self.url = f"postgres://postgres@{','.join(f'127.0.0.1:{member.port}' for member in self.members)}/postgres?sslmode=disable"

    def primary(self):
        found = [member for member in self.members if member.patroni.poll() is None and self.is_primary(member)]
        return found[0] if len(found) == 1 else None

    @staticmethod
    def is_primary(member):
        try:
            state = member.state()
            return state.get("role") in ("primary", "master") and state.get("state") == "running"
        except (OSError, ValueError):
            return False

    def is_whole(self):
        """Returns whether there is a primary, and two standbys of which each commit waits for one."""
        primary = self.primary()
        standbys = primary.state().get("replication", []) if primary else []
        return len([standby for standby in standbys if standby.get("sync_state") == "quorum" and standby["state"] == "streaming"]) == 2

    def query(self, sql):
        primary = until("a primary", self.primary)
        with psycopg.connect(host="127.0.0.1", port=primary.port, user="postgres", dbname="postgres") as connection:
            return connection.execute(sql).fetchall()

    def stop(self):
        for member in self.members:
            member.stop()
        self.etcd.kill()
        self.etcd.wait()


class Server:
    """A `consort serve`."""

    def __init__(self, home, name, database, outside):
        self.name, self.home = name, home / name
        self.home.mkdir()
        config = f"""
[models.m]
provider = "openai"
model = "m"
base_url = "http://127.0.0.1:{outside}/v1"
[tools.http.door]
description = "A door"
method = "POST"
url = "http://127.0.0.1:{outside}/door"
effect = "once"
[server]
max_concurrent_runs = 100
max_queued_runs = 1000
max_retained_completed_runs = 100000
[cluster]
url = "{database}"
secret = "not told"
name = "{name}"
"""
        (self.home / "consort.toml").write_text(config)
        self.log = open(self.home / "log", "wb")
        command = [os.environ["CONSORT_BIN"], "serve", "--port", "0"]
        self.process = subprocess.Popen(command, cwd=self.home, stdout=subprocess.PIPE, stderr=self.log)
        line = self.process.stdout.readline().decode()
        if not line.startswith("consort listening on "):
            raise SystemExit(f"{name} does not start: {line} {(self.home / 'log').read_text()[-2000:]}")
        self.url = line.split()[-1]


class Load:
    """Runs that are begun all the time, each with a client that follows it from server to server."""

    def __init__(self, servers):
        self.servers, self.dice = servers, random.Random(SEED)
        self.lock = threading.Lock()
        self.over = threading.Event()
        # When runs were acknowledged, and what clients have seen of each: events by their numbers.
        self.acknowledged, self.seen = [], {}
        self.watchers, self.reasons, self.wrong = [], set(), []
        self.threads = [threading.Thread(target=self.guard, args=(self.begin,)), threading.Thread(target=self.guard, args=(self.look,))]
        for thread in self.threads:
            thread.start()

    def guard(self, work, *args):
        try:
            work(*args)
        except Exception as error:  # noqa: BLE001: a thread's mistake must not be lost
            self.wrong.append(f"{work.__name__}: {error!r}")

    def any(self):
        with self.lock:
            return self.dice.choice(self.servers).url

    def begin(self):
        tasks = [
            {"name": "a", "description": "pass", "tools": ["door"]},
            {"name": "b", "description": "and on", "context": ["$a"]},
        ]
        number = 0
        while not self.over.is_set():
            number += 1
            # One that may have been stored is sent again under its key, as clients do.
            while not self.over.is_set():
                try:
                    status, answer = ask(f"{self.any()}/api/runs", {"tasks": tasks}, {"idempotency-key": f"key-{number}"}, timeout=3)
                except OSError:
                    continue
                if status == 202:
                    break
                # Another server may still be at it.
                if status not in (409, 503):
                    raise ValueError(f"{status} {answer}")
                time.sleep(0.1)
            else:
                return
            run = answer["runId"]
            with self.lock:
                self.acknowledged.append(time.monotonic())
                self.seen[run] = {}
            watcher = threading.Thread(target=self.guard, args=(self.follow, run))
            watcher.start()
            self.watchers.append(watcher)
            time.sleep(1 / PACE)

    def follow(self, run):
        """Reads the events of a run, and goes on at another server where a stream breaks."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            last = max(self.seen[run], default=-1)
            request = urllib.request.Request(
                f"{self.any()}/api/runs/{run}/events",
                headers={"accept": "text/event-stream", **({"last-event-id": str(last)} if last >= 0 else {})},
            )
            try:
                with urllib.request.urlopen(request, timeout=40) as stream:
                    if self.read(run, stream):
                        return
            except OSError:
                time.sleep(0.1)
        raise ValueError(f"{run} does not end")

    def read(self, run, stream):
        number, frame = None, {}
        for line in stream:
            if line.startswith(b"id: "):
                number = int(line[4:])
            elif line.startswith(b"data: "):
                frame = json.loads(line[6:])
            elif not line.strip():
                if frame.get("type") == "run_result":
                    return True
                if number is not None:
                    if number in self.seen[run]:
                        raise ValueError(f"{run}: event {number} came twice")
                    self.seen[run][number] = frame
                number, frame = None, {}
        return False

    def look(self):
        """Asks for the newest run all the time, and notes the reasons why it does not go on."""
        while not self.over.is_set():
            time.sleep(0.2)
            with self.lock:
                run = next(reversed(self.seen), None)
            if run is None:
                continue
            try:
                status, answer = ask(f"{self.any()}/api/runs/{run}", timeout=20)
            except OSError:
                continue
            if status == 200 and answer.get("waitingFor") == "storage":
                self.reasons.add("200 waitingFor storage")
            elif status != 200:
                self.reasons.add(f"{status} {answer.get('error')}")

    def stall(self, since):
        """Returns the longest time between two acknowledgements since then."""
        with self.lock:
            times = [at for at in self.acknowledged if at >= since - 2]
        return max((after - before for before, after in zip(times, times[1:])), default=float("inf"))

    def end(self):
        self.over.set()
        for thread in [*self.threads, *self.watchers]:
            thread.join()


def kill(primary):
    primary.signal(signal.SIGKILL, with_patroni=False)


def lose_machine(primary):
    primary.signal(signal.SIGKILL, with_patroni=True)


def freeze(primary):
    primary.signal(signal.SIGSTOP, with_patroni=True)


def move(primary):
    status, answer = ask(f"http://127.0.0.1:{primary.rest}/switchover", {"leader": primary.name}, timeout=60)
    if status != 200:
        raise SystemExit(f"no switchover: {status} {answer}")


TROUBLES = {"killed": kill, "machine": lose_machine, "frozen": freeze, "switchover": move}


def trouble(name, database, load):
    """Lets something happen to the primary; returns the stall when all is well again."""
    primary = until("a primary", database.primary)
    load.reasons.clear()
    since = time.monotonic()
    TROUBLES[name](primary)
    # Work goes on: several acknowledgements after the trouble, none of them from before it was noticed.
    until("work goes on", lambda: database.primary() and is_busy(load), STALL_MAX[name] * 3)
    if name == "machine":
        primary.patroni.wait()
        primary.start()
    if name == "frozen":
        primary.signal(signal.SIGCONT, with_patroni=True)
    until("the database is whole again", database.is_whole)
    time.sleep(2)
    stall = load.stall(since)
    print(f"patroni: {name}: no acknowledgement for {stall:.1f} s; GET said {', '.join(sorted(load.reasons)) or 'nothing'}", flush=True)
    return stall


def is_busy(load, moment=3):
    """Returns whether runs were acknowledged all the time of the last moment."""
    now = time.monotonic()
    with load.lock:
        times = [at for at in load.acknowledged if at > now - moment]
    return len(times) >= PACE * moment / 2


def check(database, load, servers):
    """Checks that everything that clients were shown is there, and that everything ended well."""
    runs = sorted(load.seen)
    events = 0
    for run in runs:
        stored = until(f"the events of {run}", lambda: listed(servers[0], run))
        for number, frame in load.seen[run].items():
            if stored.get(number) != frame:
                load.wrong.append(f"{run}: event {number} was shown as {frame}, and is {stored.get(number)}")
        if sorted(load.seen[run]) != list(range(len(stored))):
            load.wrong.append(f"{run}: of {len(stored)} events a client saw {sorted(load.seen[run])}")
        events += len(stored)
        status, answer = ask(f"{servers[1].url}/api/runs/{run}")
        if answer.get("status") != "COMPLETED":
            load.wrong.append(f"{run}: {status} {answer}")
        adopted = [frame["reason"] for frame in stored.values() if frame["type"] == "run_adopted"]
        if "takeover" in adopted:
            load.wrong.append(f"{run} was taken over: {adopted}")
    [(evicted,)] = database.query("SELECT count(*) FROM consort.nodes WHERE evicted_at IS NOT NULL")
    if evicted:
        load.wrong.append(f"{evicted} servers were evicted")
    if len(set(Outside.calls)) != len(Outside.calls):
        load.wrong.append("a call that may happen once came twice")
    print(f"patroni: {len(runs)} runs, {events} events, {len(Outside.calls)} calls, {evicted} servers evicted", flush=True)


def listed(server, run):
    """Returns the stored events of a run, by their numbers."""
    status, answer = ask(f"{server.url}/api/runs/{run}/events?limit=1000")
    if status != 200:
        raise ValueError(f"{status} {answer}")
    return {event["seq"]: event for event in answer["events"]}


def play(home):
    print(f"patroni: CONSORT_FAILOVERS={ROUNDS} CONSORT_CHAOS_SEED={SEED} scripts/patroni", flush=True)
    outside = ThreadingHTTPServer(("127.0.0.1", 0), Outside)
    threading.Thread(target=outside.serve_forever, daemon=True).start()
    database = Database(home)
    servers = []
    load = None
    try:
        until("a primary with two synchronous standbys", database.is_whole)
        servers += [Server(home, name, database.url, outside.server_port) for name in ("first", "second", "third")]
        load = Load(servers)
        until("work begins", lambda: is_busy(load))
        for _round in range(ROUNDS):
            for name in TROUBLES:
                stall = trouble(name, database, load)
                if stall > STALL_MAX[name]:
                    load.wrong.append(f"{name}: the stall of {stall:.1f} s is longer than {STALL_MAX[name]} s")
                if stall > 5 and not load.reasons:
                    load.wrong.append(f"{name}: no answer has told the reason")
        load.end()
        check(database, load, servers)
    finally:
        if load:
            load.over.set()
        for server in servers:
            server.process.kill()
            server.process.wait()
        database.stop()
    if load.wrong:
        raise SystemExit("patroni: " + "\npatroni: ".join(load.wrong[:10]))


def main():
    # Whoever ends this ends what it has started.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended"))
    home = Path(tempfile.mkdtemp(prefix="consort-patroni."))
    if AS_POSTGRES:
        shutil.chown(home, "postgres", "postgres")
    try:
        play(home)
    except BaseException:
        print(f"patroni: the logs are in {home}", file=sys.stderr)
        raise
    shutil.rmtree(home)


main()
