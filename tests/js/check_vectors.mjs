// node check_vectors.mjs vectors.jsonl: every observation and mask of the file, made again from its events.

import { readFileSync } from "node:fs";
import { FEATURES, Table } from "./cards_v1.mjs";

const [first, ...lines] = readFileSync(process.argv[2], "utf8").trim().split("\n");
const header = JSON.parse(first);
if (header.format !== "paplu-vectors-1" || header.encoding !== "cards-v1" || header.num_features !== FEATURES) {
  throw new Error(`not vectors that this encoder reads: ${first}`);
}
if (lines.length !== header.vectors) throw new Error(`${lines.length} vectors, not ${header.vectors}`);

lines.forEach((line, number) => {
  const vector = JSON.parse(line);
  const table = new Table(header.options.drop_allowed);
  for (const event of vector.events) table.see(event);
  const expected = new Float32Array(FEATURES);
  vector.indices.forEach((index, place) => (expected[index] = vector.values[place]));
  const found = table.encode();
  for (let i = 0; i < FEATURES; i++) {
    if (found[i] !== expected[i]) throw new Error(`vector ${number}: entry ${i} is ${found[i]}, not ${expected[i]}`);
  }
  const legal = table.legal();
  if (String(legal) !== String(vector.legal)) throw new Error(`vector ${number}: legal ${legal}, not ${vector.legal}`);
  if (!legal.includes(vector.action)) throw new Error(`vector ${number}: action ${vector.action} is not legal`);
});
console.log(`${lines.length} vectors agree`);
