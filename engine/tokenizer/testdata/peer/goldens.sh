#!/usr/bin/env bash
# Makes ids.json anew: what llama.cpp makes of texts.json with GPT-2's vocabulary and
# each pre-tokenizer. llama.cpp comes prebuilt with the npm package node-llama-cpp.
#   engine/tokenizer/testdata/peer/goldens.sh ../shared/models/vocab/ggml-vocab-gpt-2.gguf
set -euo pipefail
vocabulary=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
npm init -y >/dev/null
npm install --silent --ignore-scripts node-llama-cpp@3.22.1
cp "$here/goldens.mjs" .
node goldens.mjs "$vocabulary" "$scratch" "$here"
