"""Holds the next times of schedules, as the built server tells them, against those of a package that does as Debian's
cron: patterns of every kind, most of them around the days on which clocks change. `scripts/judge` installs it."""

import datetime
import http.client
import itertools
import json
import random
import sys
import zoneinfo
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "clients/python/tests"))
from harness import KEY, FakeModel, Served, with_fake_model  # noqa: E402

import cronsim  # noqa: E402

# The same rules on every machine.
zoneinfo.reset_tzpath(to=[])

PATTERNS = 1000
# Zones, and the days and months around which their clocks change. Those that change within an hour, such as Lord Howe,
# are left out: the package misses times there.
ZONES = {
    "Europe/Berlin": [("27-28", "3"), ("30-31", "10")],
    "America/New_York": [("13-14", "3"), ("6-7", "11")],
    "America/Santiago": [("3-4", "4"), ("4-5", "9")],
    "America/St_Johns": [("13-14", "3"), ("6-7", "11")],
    "Australia/Adelaide": [("3-4", "4"), ("2-3", "10")],
    "Asia/Kolkata": [],
    "UTC": [],
}


def field(dice, low, high, others):
    """A field of a pattern with values from a range."""
    first = dice.randint(low, high - 1)
    last = dice.randint(first + 1, high)
    step = dice.randint(1, high // 2)
    several = sorted(dice.sample(range(low, high + 1), dice.randint(1, 3)))
    forms = [str(first), ",".join(map(str, several)), f"{first}-{last}", f"{first}-{last}/{step}", f"*/{step}"]
    return dice.choice([*forms, str(last), dice.choice(others)])


def pattern(dice, changes):
    """A pattern; most of those of a zone whose clocks change are around that."""
    minute = field(dice, 0, 59, ["*"])
    hour = dice.choice([field(dice, 0, 23, ["*"]), field(dice, 0, 4, ["*"])])
    if changes and dice.random() < 0.6:
        day, month = dice.choice(changes)
        return f"{minute} {hour} {day} {month} *"
    day = dice.choice(["*", field(dice, 1, 28, ["*", "L", "LW"])])
    month = dice.choice(["*", "*", field(dice, 1, 12, ["JAN,jul", "MAR", "OCT-NOV"])])
    weekday = dice.choice(["*", field(dice, 0, 6, ["*", "MON-FRI", "sun", "7", "FRI#3", "2#1", "5L"])])
    return f"{minute} {hour} {day} {month} {weekday}"


def due(cron, zone, after):
    """The next five times, as the package says."""
    times = itertools.islice(cronsim.CronSim(cron, after.astimezone(zoneinfo.ZoneInfo(zone))), 5)
    return [time.astimezone(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z") for time in times]


def main():
    model = FakeModel()
    served = Served(with_fake_model(model))
    connection = http.client.HTTPConnection("127.0.0.1", served.port)
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}

    def ask(method, path, body):
        connection.request(method, path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.load(answer)

    dice = random.Random(1)
    try:
        status, made = ask("POST", "/api/schedules", {"name": "judged", "cron": "0 0 * * *"})
        assert status == 201, made
        for _ in range(PATTERNS):
            zone = dice.choice(sorted(ZONES))
            cron = pattern(dice, ZONES[zone])
            before = datetime.datetime.now(datetime.timezone.utc)
            status, row = ask("PATCH", "/api/schedules/judged", {"cron": cron, "timezone": zone})
            after = datetime.datetime.now(datetime.timezone.utc)
            assert status == 200, (cron, zone, row)
            # A minute may have begun meanwhile.
            assert row["next"] in (due(cron, zone, before), due(cron, zone, after)), (cron, zone, row["next"])
        print(f"cronsim: {PATTERNS} patterns, fine")
    finally:
        served.close()
        model.close()


main()
