# SPDX-License-Identifier: GPL-3.0-or-later
"""Checkpoints that any plan can read: torch.distributed.checkpoint, and what it cannot do by itself, other slices.

A checkpoint saved under one plan loads under another one with other shard groups as it is. Where a linear was split in other
slices than it is now, its tensors are joined and cut anew, one linear at a time.
"""
import re

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict
from torch.distributed.tensor import DTensor, distribute_tensor

from apply_plan import SplitLinear

SLICE = re.compile(r"\.slices\.(\d+)(?=\.)")


def save_checkpoint(model, optimizer, folder):
    dcp.save(flat(model, optimizer)[0], checkpoint_id=folder)


def load_checkpoint(model, optimizer, folder):
    """Fills `model` and `optimizer` in place, whatever plan the checkpoint was saved under."""
    state, nested = flat(model, optimizer)
    saved = dcp.FileSystemReader(folder).read_metadata().state_dict_metadata
    same = {key: value for key, value in state.items() if key in saved and shape_of(saved[key]) == list(getattr(value, "shape", []))}
    dcp.load(same, checkpoint_id=folder)
    state.update(same)
    split = {path: module for path, module in model.named_modules() if isinstance(module, SplitLinear)}
    split = {path.replace("_checkpoint_wrapped_module.", ""): module for path, module in split.items()}
    transposed = {key for key in weights_in_by_out(model)}
    whole = {}
    for key in state:
        if key not in same:
            whole.setdefault(SLICE.sub("", key), []).append(key)
    for name, keys in whole.items():
        load_resliced(name, keys, state, saved, split, transposed, folder)
    put(model, optimizer, nested, state)


def load_resliced(name, keys, state, saved, split, transposed, folder):
    sources = sorted((key for key in saved if SLICE.sub("", key) == name), key=slice_of)
    if not sources:
        raise ValueError(f"The checkpoint in {folder} has no {name}; it is of another model or optimizer.")
    full = {key: torch.empty(shape_of(saved[key]), dtype=saved[key].properties.dtype) if hasattr(saved[key], "properties") else None
            for key in sources}
    dcp.load(full, checkpoint_id=folder)
    parts = [full[key] for key in sources]
    if not isinstance(parts[0], torch.Tensor) or parts[0].dim() < 2:  # a bias, or an optimizer's count of steps
        for key in keys:
            assign(state, key, parts[0])
        return
    joined = torch.cat(parts, dim=1) if SLICE.search(sources[0]) else parts[0]  # slices are out x in/g
    module = next((m for path, m in split.items() if f".{path}." in f".{name}."), None)
    if module is not None:
        if module.transposed and not SLICE.search(sources[0]):
            joined = joined.t()
        cut = joined.split(module.sizes, dim=1)
        for key in keys:
            assign(state, key, cut[slice_of(key)].contiguous())
    else:
        stored = joined.t() if SLICE.search(sources[0]) and any(f".{path}." in f".{name}." for path in transposed) else joined
        assign(state, keys[0], stored.contiguous())


def weights_in_by_out(model):
    return [path.replace("_checkpoint_wrapped_module.", "") for path, module in model.named_modules()
            if type(module).__name__.endswith("Conv1D")]


def assign(state, key, value):
    target = state[key]
    if isinstance(target, DTensor):
        value = distribute_tensor(value.to(target.device), target.device_mesh, target.placements, src_data_rank=None)
        target.to_local().copy_(value.to_local())
    elif isinstance(target, torch.Tensor):
        target.copy_(value)
    else:
        state[key] = value


def slice_of(key):
    found = SLICE.search(key)
    return int(found.group(1)) if found else 0


def shape_of(metadata):
    return list(metadata.size) if hasattr(metadata, "size") else []


def flat(model, optimizer):
    """One flat dict of what dcp saves, and the nested dicts that it came from."""
    weights, states = get_state_dict(model, optimizer)
    result = {f"model.{name}": value for name, value in weights.items()}
    for name, entry in states["state"].items():
        result.update({f"optimizer.{name}.{key}": value for key, value in entry.items()})
    return result, (weights, states)


def put(model, optimizer, nested, state):
    weights, states = nested
    for name in weights:
        weights[name] = state[f"model.{name}"]
    for name, entry in states["state"].items():
        for key in entry:
            entry[key] = state[f"optimizer.{name}.{key}"]
    set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=states)
