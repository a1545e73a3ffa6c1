// Tokenizes the texts of texts.json with llama.cpp, once for each pre-tokenizer, and
// writes the ids to ids.json. Usage: see goldens.sh.
import {readFileSync, writeFileSync} from "node:fs";
import {join} from "node:path";
import {getLlama} from "node-llama-cpp";

const [, , vocabulary, scratch, here] = process.argv;
const names = ["gpt-2", "llama-bpe", "qwen2", "smollm", "default"];
const texts = JSON.parse(readFileSync(join(here, "texts.json"), "utf8"));

// A GGUF string is its length in 8 bytes and its bytes; the file has no tensors, so
// nothing behind the string depends on where it ends.
function withPre(file, name) {
  const string = (s) => {
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(s.length));
    return Buffer.concat([length, Buffer.from(s)]);
  };
  const key = Buffer.concat([string("tokenizer.ggml.pre"), Buffer.from([8, 0, 0, 0])]);
  const at = file.indexOf(key) + key.length;
  const end = at + 8 + Number(file.readBigUInt64LE(at));
  return Buffer.concat([file.subarray(0, at), string(name), file.subarray(end)]);
}

const llama = await getLlama({gpu: false, build: "never", logLevel: "error"});
const ids = {};
for (const name of names) {
  const modelPath = join(scratch, name + ".gguf");
  writeFileSync(modelPath, withPre(readFileSync(vocabulary), name));
  const model = await llama.loadModel({modelPath, vocabOnly: true});
  ids[name] = texts.map((text) => model.tokenize(text, false));
}
const lines = names.map((name) => `${JSON.stringify(name)}: [\n${ids[name].map((list) => JSON.stringify(list)).join(",\n")}\n]`);
writeFileSync(join(here, "ids.json"), `{\n${lines.join(",\n")}\n}\n`);
console.log(`${texts.length} texts, llama.cpp ${llama.llamaCppRelease.release}`);
process.exit(0);
