#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures what PyTorch saves for backward, place by place, as rows like tests/data/truth/activations.csv.

Fake tensors: no GPU, no weights, no downloads. tests/peers/measure sets the private environment up and runs this.
"""
import argparse
import csv
import fnmatch
import json
import os
import sys

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import torch
import torch.nn.functional as F
import transformers
import transformers.integrations.moe
import transformers.masking_utils
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils._python_dispatch import TorchDispatchMode

MODES = {"fp32": torch.float32, "bf16": torch.bfloat16, "autocast_bf16_fp32w": torch.float32}
COLUMNS = ("file class model_type layers_config layers_built attention sdpa_backend device dtype_mode dropout frozen batch seq "
           "all_layers_saved embedding between final_norm head loss total_built weightcast_total torch transformers").split()


def pretend_cuda():
    """Lets CUDA-only code paths run on fake tensors: autocast starts, and kernels are chosen as on a real device."""
    torch.cuda.get_device_capability = lambda *_: (9, 0)
    torch.cuda.is_bf16_supported = lambda *_, **__: True
    torch.cuda.amp.common.amp_definitely_not_available = lambda: False
    torch.cuda.is_current_stream_capturing = lambda: False
    # Hugging Face takes a fake tensor for tracing and would build masks that eager mode leaves out.
    transformers.utils.import_utils.is_fake_tensor = lambda _: False
    masks = transformers.masking_utils
    masks.find_packed_sequence_indices = lambda _: None
    masks.fast_all = lambda _: True
    # The fake kernel of grouped_mm knows bf16 only; for fp32 Hugging Face's own fallback saves the same tensors.
    experts = transformers.integrations.moe
    allowed = experts._can_use_grouped_mm
    experts._can_use_grouped_mm = lambda x, weight, offs: weight.dtype == torch.bfloat16 and allowed(x, weight, offs)


def choosing_attention(used):
    """scaled_dot_product_attention with the choice of sdp_utils.cpp; on fake CUDA it would silently take math."""
    math = F.scaled_dot_product_attention

    def attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
        if torch.is_autocast_enabled("cuda"):  # it is on autocast's list of ops for the lower type
            lower = torch.get_autocast_dtype("cuda")
            query, key, value = (t.to(lower) for t in (query, key, value))
            if attn_mask is not None and attn_mask.is_floating_point():
                attn_mask = attn_mask.to(lower)
        same = query.shape[-1] == value.shape[-1]
        half = query.dtype in (torch.bfloat16, torch.float16)
        heads = query.shape[1] == key.shape[1]
        if half and attn_mask is None and same and query.shape[-1] <= 256 and (heads or enable_gqa):
            used.add("flash")
            return torch.ops.aten._scaled_dot_product_flash_attention(query, key, value, dropout_p, is_causal, False, scale=scale)[0]
        if heads:
            used.add("efficient")
            if attn_mask is not None and attn_mask.dtype == torch.bool:
                attn_mask = torch.zeros_like(attn_mask, dtype=query.dtype).masked_fill(attn_mask.logical_not(), float("-inf"))
            if attn_mask is not None:
                attn_mask = attn_mask.expand(query.shape[0], query.shape[1], query.shape[2], key.shape[2])
            return torch.ops.aten._scaled_dot_product_efficient_attention(query, key, value, attn_mask, True, dropout_p, is_causal,
                                                                          scale=scale)[0]
        used.add("math")
        return math(query, key, value, attn_mask=attn_mask, dropout_p=dropout_p, is_causal=is_causal, scale=scale,
                    enable_gqa=enable_gqa)

    return attention


class Casts(TorchDispatchMode):
    """Remembers which op made each storage, and which are copies of parameters or inputs in another type."""

    def __init__(self, parameters):
        super().__init__()
        self.sources = dict(parameters)
        self.casts = {}
        self.makers = {}

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        outputs = result if isinstance(result, (tuple, list)) else (result,)
        for output in outputs:
            if isinstance(output, torch.Tensor):
                storage = output.untyped_storage()
                self.makers.setdefault(storage._cdata, (str(function), storage))
                if function is torch.ops.aten._to_copy.default and args[0].untyped_storage()._cdata in self.sources:
                    self.casts[storage._cdata] = storage
        return result


class Recorder:
    """Counts every storage once, at the place where it is saved first."""

    def __init__(self, model, layers, head):
        self.place = "embedding"
        self.called = 0
        self.left = layers
        self.parameters = {t.untyped_storage()._cdata: t for t in [*model.parameters(), *model.buffers()]}
        self.seen = {}
        self.saved = {}
        self.cast_bytes = 0
        self.tensors = []
        self.casts = Casts(self.parameters)
        if head is not None:
            head.register_forward_pre_hook(self.enter_head, with_kwargs=True)
            head.register_forward_hook(lambda *_: setattr(self, "place", "loss"))

    def watch(self, layer):
        layer.register_forward_pre_hook(self.enter_layer, with_kwargs=True)
        layer.register_forward_hook(self.leave_layer)

    def enter_head(self, *_):
        self.place = "head"

    def enter_layer(self, *_):
        self.place = f"layer {self.called}"
        self.called += 1

    def leave_layer(self, *_):
        self.left -= 1
        self.place = "final_norm" if self.left == 0 else "between"

    def pack(self, tensor):
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key in self.parameters or key in self.seen:
            return tensor
        self.seen[key] = storage
        if key in self.casts.casts:
            self.cast_bytes += storage.nbytes()
            return tensor
        self.saved[self.place] = self.saved.get(self.place, 0) + storage.nbytes()
        self.tensors.append((self.place, list(tensor.shape), str(tensor.dtype)[6:], storage.nbytes(),
                             self.casts.makers.get(key, ("?",))[0]))
        return tensor


def layer_stacks(model, config):
    """The lists of layers, in order of execution; ALBERT's one layer is called again and again."""
    if config.model_type == "albert":
        return [(list(model.albert.encoder.albert_layer_groups), config.num_hidden_layers)]
    lists = [m for m in model.modules() if isinstance(m, torch.nn.ModuleList) and len(m) > 0]
    outer = []
    for one in lists:
        inside = any(one is not other and one in list(other.modules()) for other in lists)
        if not inside and len(list(one.parameters())) > 3:
            outer.append(one)
    return [(list(one), len(one)) for one in outer]


def shallow(config, layers):
    """Cuts the depth of every stack; widths stay."""
    for name in ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers"):
        value = getattr(config, name, None)
        if isinstance(value, int):
            setattr(config, name, min(value, layers))
    types = getattr(config, "layer_types", None)
    if isinstance(types, list):
        config.layer_types = types[:layers]
    return config


def set_dropout(config, probability):
    for name, value in list(vars(config).items()):
        if ("drop" in name or "pdrop" in name) and isinstance(value, float):
            setattr(config, name, probability)


def inputs(config, batch, sequence):
    if config.model_type == "vit":
        return {"pixel_values": torch.zeros(batch, config.num_channels, config.image_size, config.image_size),
                "labels": torch.zeros(batch, dtype=torch.long)}
    tokens = torch.zeros(batch, sequence, dtype=torch.long)
    if config.model_type == "whisper":
        frames = 2 * config.max_source_positions
        return {"input_features": torch.zeros(batch, config.num_mel_bins, frames),
                "labels": tokens[:, :config.max_target_positions]}
    return {"input_ids": tokens, "labels": tokens.clone()}


def read_config(raw):
    left_out = ("model_type", "quantization_config", "dtype", "torch_dtype", "_attn_implementation")
    return transformers.AutoConfig.for_model(raw.get("model_type"), **{k: v for k, v in raw.items() if k not in left_out})


def model_class(raw, config):
    named = (raw.get("architectures") or [""])[0]
    for name in (named, named.replace("LLaMA", "Llama")):
        if any(end in name for end in ("ForCausalLM", "LMHeadModel", "ForMaskedLM", "ForConditionalGeneration", "ForImageClassification")):
            found = getattr(transformers, name, None)
            if found is not None:
                return found
    for auto in (transformers.AutoModelForCausalLM, transformers.AutoModelForMaskedLM, transformers.AutoModelForSeq2SeqLM,
                 transformers.AutoModelForImageClassification):
        if type(config) in auto._model_mapping:
            return auto._model_mapping[type(config)]
    raise SystemExit(f"{config.model_type}: no class with a loss is known for it")


def measure(path, options, mode):
    with open(path, encoding="utf-8") as file:
        raw = json.load(file)
    config = read_config(raw)
    attention, dtype = options.attention, MODES[mode]
    depth = getattr(config, "num_hidden_layers", 0)
    if options.dropout == "0":
        set_dropout(config, 0.0)
    config.use_cache = False
    shallow(config, options.layers)
    config._attn_implementation = attention
    used = set()
    original = F.scaled_dot_product_attention
    F.scaled_dot_product_attention = torch.nn.functional.scaled_dot_product_attention = choosing_attention(used)
    try:
        with FakeTensorMode(allow_non_fake_inputs=True), torch.device("cuda"):
            before = torch.get_default_dtype()
            torch.set_default_dtype(dtype)
            model = model_class(raw, config)._from_config(config, attn_implementation=attention, dtype=dtype)
            torch.set_default_dtype(before)
            model.train()
            for name, parameter in model.named_parameters():
                if any(fnmatch.fnmatch(name, pattern) for pattern in options.freeze):
                    parameter.requires_grad_(False)
            stacks = layer_stacks(model, config)
            head = model.get_output_embeddings() or getattr(model, "classifier", None)
            recorder = Recorder(model, sum(calls for _, calls in stacks), head)
            for layers, _ in stacks:
                for layer in layers:
                    recorder.watch(layer)
            batch = inputs(config, options.batch, options.seq)
            if dtype == torch.bfloat16:
                batch = {k: v.to(dtype) if v.is_floating_point() else v for k, v in batch.items()}
            for tensor in batch.values():  # their casts are no activations either
                if tensor.is_floating_point():
                    recorder.casts.sources[tensor.untyped_storage()._cdata] = tensor
            with recorder.casts, torch.autograd.graph.saved_tensors_hooks(recorder.pack, lambda t: t), \
                    torch.autocast("cuda", torch.bfloat16, enabled=mode.startswith("autocast")):
                model(**batch)
    finally:
        F.scaled_dot_product_attention = torch.nn.functional.scaled_dot_product_attention = original
    saved = recorder.saved
    layers = [saved.get(f"layer {i}", 0) for i in range(recorder.called)]
    row = {"file": os.path.basename(path), "class": type(model).__name__, "model_type": config.model_type, "layers_config": depth,
           "layers_built": options.layers, "attention": attention, "sdpa_backend": "+".join(sorted(used)), "device": "cuda(fake)",
           "dtype_mode": mode, "dropout": options.dropout, "frozen": " ".join(options.freeze), "batch": options.batch, "seq": options.seq,
           "all_layers_saved": " ".join(map(str, layers)), "total_built": sum(saved.values()), "weightcast_total": recorder.cast_bytes,
           "torch": torch.__version__, "transformers": transformers.__version__}
    row.update({place: saved.get(place, 0) for place in ("embedding", "between", "final_norm", "head", "loss")})
    return row, recorder.tensors


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("configs", nargs="+", help="config.json files")
    parser.add_argument("--attention", default="sdpa", choices=["sdpa", "eager"])
    parser.add_argument("--modes", default="fp32,bf16,autocast_bf16_fp32w")
    parser.add_argument("--dropout", default="0", choices=["0", "config"])
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--seq", type=int, default=512)
    parser.add_argument("--freeze", action="append", default=[], metavar="PATTERN", help="parameters that are not trained, e.g. '*mlp*'")
    parser.add_argument("--layers", type=int, default=3, help="layers built of each stack")
    parser.add_argument("--tensors", metavar="PLACE", help="list the tensors saved in this place, e.g. 'layer 1', instead of rows")
    options = parser.parse_args()
    pretend_cuda()
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    if not options.tensors:
        writer.writeheader()
    for path in options.configs:
        for mode in options.modes.split(","):
            row, tensors = measure(path, options, mode)
            if not options.tensors:
                writer.writerow(row)
                sys.stdout.flush()
            for place, *rest in tensors:
                if place == options.tensors:
                    print(mode, *rest)


if __name__ == "__main__":
    main()
