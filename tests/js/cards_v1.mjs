// What a seat knows of a deal for two, from the events of `paplu bot`, and the observation `cards-v1` of it.
// For the rules `points` and the same without drops; `paplu describe cards-v1` prints what each entry means.

import { isComplete } from "./complete.mjs";

export const FEATURES = 688;
export const ACTIONS = 110;
const [DRAW, TAKE, DROP, DISCARD, DECLARE] = [0, 1, 2, 3, 56];
const FACES = 53;
const JOKER = 52;
const [PACKS, HAND, MAX_POINTS, MAX_TURNS] = [2, 13, 80, 200];
const CARDS = PACKS * FACES;

export function parseCard(text) {
  return text === "PJ" ? JOKER : 13 * "SHDC".indexOf(text[1]) + "A23456789TJQK".indexOf(text[0]);
}

const zeros = (size) => new Array(size).fill(0);
const recency = (age) => 0.5 + 0.5 / (1 + age);

export class Table {
  constructor(dropAllowed) {
    this.dropAllowed = dropAllowed;
  }

  see(event) {
    if (event.type === "deal") return this.deal(event);
    const seat = event.seat;
    const card = event.card === undefined ? -1 : parseCard(event.card);
    const open = this.pile[this.pile.length - 1];
    if (event.type === "draw") {
      this.drew[seat]++;
      this.stock--;
      this.refused[seat][open] = this.drew[seat];
      if (seat === this.me) this.hold(card);
      this.isDrawn = true;
    } else if (event.type === "take") {
      this.drew[seat]++;
      this.taken = this.pile.pop();
      this.known[seat][this.taken]++;
      if (seat === this.me) this.hold(this.taken);
      this.isDrawn = true;
    } else if (event.type === "discard") {
      // The card just taken stays, so another copy of it was thrown.
      const stays = card === this.taken ? 1 : 0;
      this.known[seat][card] = Math.max(stays, this.known[seat][card] - 1);
      if (seat === this.me) this.hand[card]--;
      this.pile.push(card);
      this.threw[seat]++;
      this.thrown[seat][card] = this.threw[seat];
      this.mover = 1 - seat;
      this.isDrawn = false;
      this.taken = this.drawn = -1;
    } else {
      throw new Error(`no decision follows a ${event.type} at a table for two`);
    }
  }

  deal(event) {
    this.me = event.seat;
    this.first = this.mover = event.first;
    this.indicator = parseCard(event.indicator);
    this.hand = zeros(FACES);
    for (const text of event.hand.split(" ")) this.hand[parseCard(text)]++;
    this.pile = [parseCard(event.open)];
    this.stock = CARDS - 2 * HAND - 2;
    // Aces are wild with a printed joker as indicator.
    const rank = this.indicator === JOKER ? 0 : this.indicator % 13;
    this.isWild = zeros(FACES).map((_, face) => face === JOKER || face % 13 === rank);
    this.isDrawn = false;
    this.taken = this.drawn = -1;
    this.drew = [0, 0];
    this.threw = [0, 0];
    const bySeat = () => [zeros(FACES), zeros(FACES)];
    [this.known, this.thrown, this.refused] = [bySeat(), bySeat(), bySeat()]; // the last two: which of its throws, draws
  }

  hold(card) {
    this.hand[card]++;
    this.drawn = card;
  }

  // The ids of the legal actions, rising, for the own seat, which must be to move.
  legal() {
    if (!this.isDrawn) return this.dropAllowed ? [DRAW, TAKE, DROP] : [DRAW, TAKE];
    const thrown = [];
    for (let face = 0; face < FACES; face++) {
      if (this.hand[face] > (face === this.taken ? 1 : 0)) thrown.push(face);
    }
    const finishes = thrown.filter((face) => {
      const left = this.hand.slice();
      left[face]--;
      return isComplete(left, this.isWild);
    });
    return [...thrown.map((face) => DISCARD + face), ...finishes.map((face) => DECLARE + face)];
  }

  encode() {
    const row = new Float32Array(FEATURES);
    let at = 0;
    const put = (values) => {
      row.set(values, at);
      at += values.length;
    };
    const one = (face) => zeros(FACES).map((_, f) => (f === face ? 1 : 0));
    const seats = [this.me, 1 - this.me];
    const draws = this.drew[0] + this.drew[1];

    for (let copies = 0; copies < PACKS; copies++) put(this.hand.map((held) => (held > copies ? 1 : 0)));
    const unseen = zeros(FACES).map((_, face) => PACKS - this.hand[face] - this.known[1 - this.me][face]);
    for (const face of [this.indicator, ...this.pile]) unseen[face]--;
    put(unseen.map((copies) => copies / PACKS));
    put(this.isWild.map(Number));
    put(one(this.indicator));
    put(one(this.pile.length > 0 ? this.pile[this.pile.length - 1] : -1));
    put(one(this.drawn).map((is) => (this.taken >= 0 ? is : is / 2)));
    for (const seat of seats) put(this.thrown[seat].map((n) => (n > 0 ? recency(this.threw[seat] - n) : 0)));
    for (const seat of seats) put(this.known[seat].map((copies) => copies / PACKS));
    put(this.refused[1 - this.me].map((n) => (n > 0 ? recency(this.drew[1 - this.me] - n) : 0)));
    put([this.isDrawn ? 0 : 1, this.isDrawn ? 1 : 0, 0]);
    put(seats.map((seat) => (seat === this.mover ? 1 : 0)));
    put(seats.map((seat) => (seat === this.first ? 1 : 0)));
    put([1, 1]); // both are in play, and owe nothing
    put(seats.map((seat) => (this.drew[seat] > 0 ? 1 : 0)));
    put([0, 0]);
    const [firstDrop, middleDrop] = this.dropAllowed ? [20 / MAX_POINTS, 40 / MAX_POINTS] : [0, 0];
    put([this.drew[this.me] === 0 ? firstDrop : middleDrop]);
    put([this.stock / CARDS, 1 / (1 + this.stock)]);
    put([draws / (draws + 12), 1 - draws / MAX_TURNS, 0]); // twelve: six rounds of two
    put([PACKS / 3, 2 / 9, HAND / 21, 1, 0, 1, 0, 0, 2 / 3, 1 / 3, 0, 0, 0, 0, 0, 0, 0, MAX_POINTS / 255, 0]);
    put([this.dropAllowed ? 1 : 0, firstDrop, middleDrop, 0, 0, 1, 0, 0, 0, 0, 0, 0, MAX_TURNS / 250, 0]);
    if (at !== FEATURES) throw new Error(`${at} features, not ${FEATURES}`);
    return row;
  }
}
