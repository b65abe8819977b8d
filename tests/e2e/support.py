# SPDX-License-Identifier: GPL-3.0-or-later
"""What the end-to-end tests share: where PyTorch is, how programs are run, which models are small."""
import json
import os
import subprocess
import sys

SKIP = 77
SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
QUIET = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": "", "TRANSFORMERS_VERBOSITY": "error",
         "TOKENIZERS_PARALLELISM": "false", "PYTHONDONTWRITEBYTECODE": "1"}

_ENDS = {"bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
MODELS = {
    "gpt2": {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_embd": 64, "n_layer": 3, "n_head": 4, "n_positions": 64,
             "vocab_size": 256, "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
             "attn_pdrop": 0.0, "tie_word_embeddings": True, **_ENDS},
    "llama": {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "intermediate_size": 172,
              "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 258,
              "max_position_embeddings": 64, "hidden_act": "silu", "rms_norm_eps": 1e-5, "tie_word_embeddings": False, **_ENDS},
    "mixtral": {"model_type": "mixtral", "architectures": ["MixtralForCausalLM"], "hidden_size": 64, "intermediate_size": 96,
                "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 2,
                "num_experts_per_tok": 1, "vocab_size": 256, "max_position_embeddings": 64, "hidden_act": "silu",
                "rms_norm_eps": 1e-5, "tie_word_embeddings": False, **_ENDS},
}


def skip(reason):
    print(f"Skipped: {reason}")
    sys.exit(SKIP)


def torch_python():
    """The Python of the environment that packaging/test makes; ends the test where it lacks something."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    root = os.environ.get("LOADLINE_TORCH") or os.path.join(cache, "loadline", "torch-2.11.0")
    python = os.path.join(root, "bin", "python")
    if not os.path.exists(python):
        skip(f"{python} is not there; packaging/test installs PyTorch 2.11 and transformers")
    found = subprocess.run([python, "-c", "import torch, transformers; print(torch.__version__)"], capture_output=True, text=True)
    if found.returncode != 0 or not found.stdout.startswith("2.11."):
        skip(f"{python} cannot import torch 2.11 and transformers ({(found.stderr or found.stdout).strip().splitlines()[-1]})")
    return python


def run(command, **options):
    """Runs to the end and returns stdout; on failure shows what was said and ends the test."""
    environment = {**os.environ, **QUIET, **options.pop("environment", {})}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))} ended with {done.returncode}:\n{done.stdout[-4000:]}\n{done.stderr[-6000:]}")
    return done.stdout


def make_bundle(planner, folder, name, model, flags):
    """Plans MODELS[model] with `flags`, exports it, and returns the paths of plan and bundle."""
    config = os.path.join(folder, f"{model}.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump(MODELS[model], file)
    plan = os.path.join(folder, f"{name}.loadline-plan.json")
    run([planner, "plan", "--model", config, "--output", plan, *flags])
    bundle = os.path.join(folder, name)
    run([planner, "export", plan, "--format", "fsdp2", "--model", config, "--output", bundle])
    return plan, bundle
