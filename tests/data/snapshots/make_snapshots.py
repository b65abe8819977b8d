# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the memory snapshots of this folder, and expected.json beside them with figures counted here.

They have the shape that PyTorch 2.11's torch.cuda.memory._snapshot() documents (torch/cuda/memory.py, "Snapshot", "TraceEntry"), pickled as
_dump_snapshot does it: pickle.dump(snapshot, file). The record begins in the middle of a program, as a ring of events does, keys and frames
are shared objects as in the dictionary that the bindings make, and some sizes need each of pickle's integer opcodes.
"""
import json
import os
import pickle
import random

HERE = os.path.dirname(os.path.abspath(__file__))


def rounded(size):
    return max(1, -(-size // 512)) * 512


def record(device, seed, count):
    """Events of one device, its live blocks at the end, and what is expected."""
    draw = random.Random(seed)
    frames = [[{"filename": "train.py", "name": f"layer_{i}", "line": 300 + i}] for i in range(8)]
    live, address = {}, 0x7F0000000000 + (device << 40)
    for _ in range(12):  # allocated before the record begins
        size = draw.choice([100, 4096, 3 << 20])
        live[address] = size
        address += rounded(size)
    start = now = peak = sum(map(rounded, live.values()))
    events, clock, counted = [], 1_790_000_000_000_000, 0
    while len(events) < count:
        clock += draw.randint(1, 400)
        if draw.random() < 0.52 or not live:
            size = draw.choice([4, 200, 1024, 70_000, 1 << 20, 5 << 30])
            live[address] = size
            events.append({"action": "alloc", "addr": address, "size": size, "stream": 0, "time_us": clock, "frames": draw.choice(frames)})
            address += rounded(size)
            now += rounded(size)
            counted += 1
        else:
            at = draw.choice(list(live))
            size = live.pop(at)
            now -= rounded(size)
            counted += 1
            for action in ("free_requested", "free_completed"):
                events.append({"action": action, "addr": at, "size": size, "stream": 0, "time_us": clock, "frames": draw.choice(frames)})
        peak = max(peak, now)
    events.append({"action": "snapshot", "addr": 0, "size": 0, "stream": 0, "time_us": clock, "frames": []})
    return events, live, {"device": device, "events": counted, "at_start": start, "at_end": now, "peak": peak}


def snapshot(counts):
    segments, traces, expected = [], [], []
    for device, count in enumerate(counts):
        events, live, figures = record(device, device + 1, count)
        for address, size in live.items():
            total = -(-rounded(size) // (2 << 20)) * (2 << 20)
            segments.append({
                "device": device, "address": address, "total_size": total, "allocated_size": rounded(size), "active_size": rounded(size),
                "requested_size": size, "stream": 0, "segment_type": "large", "segment_pool_id": (0, 0), "is_expandable": False,
                "frames": [], "blocks": [{"address": address, "size": total, "requested_size": size, "state": "active_allocated",
                                          "frames": []}]})
        figures["reserved"] = sum(s["total_size"] for s in segments if s["device"] == device)
        traces.append(events)
        expected.append(figures)
    shape = {"segments": segments, "device_traces": traces, "external_annotations": [],
             "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "garbage_collection_threshold": 0.0,
                                    "expandable_segments": False, "roundup_power2_divisions": {"1": 0}}}
    return shape, expected


class Call:
    def __reduce__(self):
        return (os.system, ("echo executed",))


def write(name, value, protocol=pickle.DEFAULT_PROTOCOL):
    with open(os.path.join(HERE, name), "wb") as file:
        pickle.dump(value, file, protocol=protocol)


if __name__ == "__main__":
    shape, expected = snapshot([1500, 40])
    write("two_devices.pickle", shape)
    write("two_devices_protocol_2.pickle", shape, 2)
    one, figures = snapshot([1])
    write("one_event.pickle", one)
    write("no_history.pickle", {**one, "device_traces": [[]]})
    write("call.pickle", {**one, "allocator_settings": Call()})
    write("other.pickle", {"weights": [1, 2, 3]})
    with open(os.path.join(HERE, "expected.json"), "w", encoding="utf-8") as file:
        json.dump({"two_devices": expected, "one_event": figures}, file, indent=1)
        file.write("\n")
