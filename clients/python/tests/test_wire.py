"""The parts that read and decide without waiting."""

from __future__ import annotations

import json
import unittest
from typing import Any

from consort_client._wire import EVENT_MAX, Absence, Decoder, Event, Position, segment
from consort_client.errors import NotConsort

STREAM = 'id: 7\nevent: message\ndata: {"a":\ndata: "ö"}\n\n: alive\n\nevent: token\r\ndata: x\r\n\r\ndata: unfinished'


class WireTest(unittest.TestCase):
    """The parts of a stream."""

    def test_events_are_the_same_in_pieces_of_any_size(self) -> None:
        expected = [Event(7, "message", '{"a":\n"ö"}'), Event(None, "token", "x")]
        data = STREAM.encode()
        for size in range(1, len(data) + 1):
            decoder = Decoder()
            pieces = [data[at : at + size] for at in range(0, len(data), size)]
            self.assertEqual([event for piece in pieces for event in decoder.feed(piece)], expected, size)

    def test_an_event_without_end_is_refused(self) -> None:
        decoder = Decoder()
        with self.assertRaises(NotConsort):
            for _ in range(EVENT_MAX // 1_000_000 + 2):
                list(decoder.feed(b"x" * 1_000_000))

    def test_stored_frames_come_once_and_others_always(self) -> None:
        position = Position(last=3)
        numbers = [2, 3, 4, None, 4, 5, None]
        taken = [frame for number in numbers for frame in position.take(Event(number, "x", json.dumps({"n": number})))]
        self.assertEqual(taken, [{"n": number} for number in (4, None, 5, None)])

    def test_words_come_once_whatever_of_them_is_sent_again(self) -> None:
        position = Position(last=None)

        def take(offset: int, content: str, call: str = "a") -> Any:
            frame = {"call_id": call, "offset": offset, "content": content}
            return [got["content"] for got in position.take(Event(None, "chunk", json.dumps(frame)))]  # type: ignore[typeddict-item]

        self.assertEqual(take(0, "größe "), ["größe "])
        self.assertEqual(take(0, "größe "), [])
        self.assertEqual(take(0, "größe und"), ["und"])
        self.assertEqual(take(0, "b", "b"), ["b"])
        self.assertEqual(take(11, "!"), ["!"])
        whole = {"type": "llm_completed", "call_id": "a", "content": "größe und! Ja"}
        over = Event(9, "llm_completed", json.dumps(whole))
        expected = {"type": "chunk", "parent_id": None, "depth": 0, "call_id": "a", "content": " Ja", "offset": 12}
        self.assertEqual(position.take(over), [expected, whole])
        self.assertEqual(position.take(over), [])
        calls = {"type": "message", "role": "assistant", "call_id": "c", "content": "Let me look"}
        taken: list[Any] = position.take(Event(10, "message", json.dumps(calls)))
        self.assertEqual([frame["content"] for frame in taken], ["Let me look", "Let me look"])
        row = {"type": "message", "role": "assistant", "content": "it was said before"}
        self.assertEqual(position.take(Event(11, "message", json.dumps(row))), [row])

    def test_pauses_double_until_patience_ends(self) -> None:
        absence = Absence(patience=3.0)
        self.assertEqual([absence.next_pause(now) for now in (0.0, 0.1, 0.3)], [0.1, 0.2, 0.4])
        self.assertIsNone(absence.next_pause(3.0))
        absence.over()
        self.assertEqual(absence.next_pause(10.0), 0.1)
        self.assertIsNone(absence.next_pause(100.0, 99.0), "a connection that broke at once was none")
        self.assertEqual(absence.next_pause(100.0, 20.0), 0.1, "one that held was one, though nothing came")

    def test_a_name_stays_one_segment_of_an_address(self) -> None:
        self.assertEqual(segment("a/b c?"), "a%2Fb%20c%3F")
        for wrong in ("", ".", ".."):
            self.assertRaises(ValueError, segment, wrong)
