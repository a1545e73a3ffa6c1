// Runs the official OpenAI client against llmtop's engine and checks what it gets.
//
//   npm ci && node check.mjs URL [KEY]
//
// URL is the engine's address without /v1. The engine must run one sequence at a time
// and let one wait (llmtop serve --max-num-seqs 1 --max-queue 1), so that it can be
// filled up. With KEY the engine must want it.
import assert from "node:assert/strict";
import OpenAI from "openai";

const [url, key = ""] = process.argv.slice(2);
if (!url) {
  console.error("usage: node check.mjs URL [KEY]");
  process.exit(2);
}
const baseURL = url + "/v1";
const connect = (more) => new OpenAI({ baseURL, apiKey: key || "none", maxRetries: 0, ...more });
const client = connect();
const model = "oncall";
const messages = [{ role: "user", content: "What is TTFT?" }];
const greedy = { model, messages, temperature: 0, max_tokens: 12 };

async function read(stream) {
  let text = "", finish = null, usage = null;
  const logprobs = [];
  for await (const chunk of stream) {
    const choice = chunk.choices[0];
    text += choice?.delta?.content ?? choice?.text ?? "";
    finish = choice?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
    logprobs.push(...(choice?.logprobs?.content ?? []));
  }
  return { text, finish, usage, logprobs };
}

const checks = {
  async "models.list and retrieve"() {
    const list = await client.models.list();
    assert.deepEqual(list.data.map((m) => m.id), [model]);
    assert.equal((await client.models.retrieve(model)).id, model);
  },

  async "chat, streamed and not"() {
    const whole = await client.chat.completions.create({ ...greedy, logprobs: true, top_logprobs: 2 });
    const { message, finish_reason, logprobs } = whole.choices[0];
    assert.equal(message.role, "assistant");
    assert.match(message.content, /^TTFT is the time to first token/);
    assert.equal(finish_reason, "length");
    assert.equal(whole.usage.completion_tokens, 12);
    assert.equal(whole.usage.total_tokens, whole.usage.prompt_tokens + 12);
    assert.ok(whole.usage.prompt_tokens_details.cached_tokens >= 0);
    assert.equal(logprobs.content.map((t) => t.token).join(""), message.content);
    for (const t of logprobs.content) {
      assert.equal(t.top_logprobs.length, 2);
      assert.equal(t.top_logprobs[0].token, t.token);
      assert.equal(Buffer.from(t.bytes).toString(), t.token);
    }
    const streamed = await read(await client.chat.completions.create({
      ...greedy, logprobs: true, top_logprobs: 2, stream: true, stream_options: { include_usage: true },
    }));
    assert.equal(streamed.text, message.content);
    assert.equal(streamed.finish, "length");
    assert.equal(streamed.usage.completion_tokens, 12);
    assert.deepEqual(streamed.logprobs, logprobs.content);
  },

  async "the client's own assembly of a stream"() {
    const final = await client.chat.completions.stream(greedy).finalChatCompletion();
    assert.match(final.choices[0].message.content, /^TTFT is/);
  },

  async "stop, seed and max_completion_tokens"() {
    const ask = (more) => client.chat.completions.create({ model, messages, ...more }).then((r) => r.choices[0]);
    const stopped = await ask({ temperature: 0, max_tokens: 12, stop: [" time"] });
    assert.equal(stopped.message.content, "TTFT is the");
    assert.equal(stopped.finish_reason, "stop");
    const seeded = { temperature: 1.5, max_completion_tokens: 20, seed: 7 };
    const [a, b, c] = [await ask(seeded), await ask(seeded), await ask({ ...seeded, seed: 8 })];
    assert.equal(a.message.content, b.message.content);
    assert.notEqual(a.message.content, c.message.content);
  },

  async "completions, streamed and not"() {
    const ask = { model, prompt: "It was", temperature: 0, max_tokens: 6, logprobs: 2 };
    const whole = (await client.completions.create(ask)).choices[0];
    assert.equal(whole.logprobs.tokens.join(""), whole.text);
    assert.equal(whole.logprobs.token_logprobs.length, whole.logprobs.tokens.length);
    assert.equal(whole.logprobs.text_offset[0], 0);
    assert.ok(Object.keys(whole.logprobs.top_logprobs[0]).length >= 2);
    const streamed = await read(await client.completions.create({ ...ask, stream: true }));
    assert.equal(streamed.text, whole.text);
  },

  async "leaving in the middle of a stream"() {
    const stream = await client.chat.completions.create({ ...greedy, max_tokens: 1500, stream: true, ignore_eos: true });
    for await (const _ of stream) break; // the client aborts the request
    await until(async () => (await requests()).finished.at(-1)?.finish === "abort");
  },

  async "error classes"() {
    await assert.rejects(client.chat.completions.create({ ...greedy, model: "other" }), OpenAI.NotFoundError);
    await assert.rejects(client.chat.completions.create({ ...greedy, temperature: 9 }), (e) =>
      e instanceof OpenAI.BadRequestError && e.param === "temperature" && e.type === "invalid_request_error");
    await assert.rejects(client.chat.completions.create({ ...greedy, n: 2 }), OpenAI.BadRequestError);
    if (key) {
      await assert.rejects(connect({ apiKey: "wrong" }).models.list(), (e) =>
        e instanceof OpenAI.AuthenticationError && e.code === "invalid_api_key");
    }
  },

  async "a full queue, and trying again"() {
    const long = { ...greedy, max_tokens: 1500, ignore_eos: true };
    const leave = new AbortController();
    const busy = [0, 1].map(() => client.chat.completions.create(long, { signal: leave.signal }).catch((e) => e));
    await until(async () => (await requests()).running.filter((r) => r.prompt_tokens > 0).length === 2);
    await assert.rejects(client.chat.completions.create(greedy), (e) =>
      e instanceof OpenAI.RateLimitError && e.code === "queue_full" && Number(e.headers.get("retry-after")) >= 1);
    const statuses = [];
    const patient = connect({
      maxRetries: 5,
      fetch: async (...args) => {
        const answer = await fetch(...args);
        statuses.push(answer.status);
        leave.abort(); // the two before make room
        return answer;
      },
    });
    const answer = await patient.chat.completions.create(greedy);
    assert.match(answer.choices[0].message.content, /^TTFT is/);
    assert.equal(statuses[0], 429);
    assert.equal(statuses.at(-1), 200);
    for (const e of await Promise.all(busy)) assert.ok(e instanceof OpenAI.APIUserAbortError);
  },
};

// requests is what the engine tells of the requests that it knows.
const requests = () => fetch(url + "/debug/requests").then((r) => r.json());

async function until(condition) {
  while (!(await condition())) await new Promise((next) => setTimeout(next, 20));
}

for (const [name, check] of Object.entries(checks)) {
  await check();
  console.log("ok", name);
}
console.log(Object.keys(checks).length, "checks passed");
