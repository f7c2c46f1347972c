// node logits.cjs NODE_MODULES POLICY.onnx < decisions.json > logits.json
// decisions: {"obs": rows of F numbers, "masks": rows of A zeros and ones}; logits: rows of A numbers.

const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const ort = require(join(process.argv[2], "onnxruntime-node"));

async function main() {
  const { obs, masks } = JSON.parse(readFileSync(0, "utf8"));
  const session = await ort.InferenceSession.create(process.argv[3]);
  const { logits } = await session.run({
    obs: new ort.Tensor("float32", Float32Array.from(obs.flat()), [obs.length, obs[0].length]),
    action_mask: new ort.Tensor("bool", Uint8Array.from(masks.flat()), [masks.length, masks[0].length]),
  });
  const width = logits.dims[1];
  const rows = masks.map((_, i) => Array.from(logits.data.slice(i * width, (i + 1) * width)));
  process.stdout.write(JSON.stringify(rows));
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
