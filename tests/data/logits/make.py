# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes the reference that tests/profiler/model/logits_test.cpp compares with: what transformers' own models say.

Run by hand in an environment with torch 2.11.0 and transformers 5.24.0:  python tests/data/logits/make.py
Weights come from a formula that both sides know, so that none is stored.
"""
import json
import pathlib

import torch
import transformers

HERE = pathlib.Path(__file__).parent
BATCH, TOKENS = 2, 7


def weight(name, shape):
    """Element i of a parameter: a 32-bit linear congruential step of i and the name's FNV-1a hash, from -0.15 to 0.15."""
    hashed = 2166136261
    for byte in name.encode():
        hashed = (hashed ^ byte) * 16777619 % 2**32
    index = torch.arange(torch.Size(shape).numel(), dtype=torch.int64)
    mixed = (index * 1664525 + hashed) % 2**32
    mixed = (mixed * 22695477 + 1) % 2**32
    value = (mixed.double() / 2**32 - 0.5) * 0.3
    norm = len(shape) == 1 and name.endswith("weight")
    return (value + 1 if norm else value).float().view(shape)


def main():
    rows = []
    for file in ["gpt2.json", "llama.json", "opt.json", "bert.json", "bert-pretraining.json", "mixtral.json", "qwen3.json"]:
        config = json.loads((HERE / "../train" / file).read_text())
        kind = transformers.CONFIG_MAPPING[config["model_type"]]
        model = getattr(transformers, config["architectures"][0])(kind(**config, attn_implementation="eager")).eval()
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                parameter.copy_(weight(name, tuple(parameter.shape)))
        tokens = (torch.arange(BATCH * TOKENS) * 13 + 5).remainder(config["vocab_size"]).view(BATCH, TOKENS)
        masked = config["model_type"] == "bert"
        targets = (tokens * 3 + 1).remainder(config["vocab_size"]) if masked else tokens.roll(-1, 1)
        targets[:, -1] = -100
        if config["architectures"][0].endswith("ForPreTraining"):
            out = model(tokens, labels=targets, next_sentence_label=torch.tensor([1, 0]))
            logits, loss = out.prediction_logits, out.loss
        else:
            logits = model(tokens).logits
            flat = torch.nn.functional.cross_entropy
            loss = flat(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
        model.zero_grad()
        loss.backward()
        norms = {name: float(parameter.grad.norm()) for name, parameter in model.named_parameters()}
        rows.append({"model": file, "loss": float(loss), "shape": list(logits.shape),
                     # every 11th is enough to see any difference
                     "logits": [round(v, 7) for v in logits.detach().flatten()[::11].tolist()],
                     "gradient_norms": {name: float(f"{norm:.7g}") for name, norm in norms.items()}})
    about = f"torch {torch.__version__}, transformers {transformers.__version__}, fp32, eager attention"
    lines = ",\n".join(json.dumps(row) for row in rows)
    (HERE / "reference.json").write_text(f'{{"about": {json.dumps(about)}, "models": [\n{lines}\n]}}\n')


if __name__ == "__main__":
    main()
