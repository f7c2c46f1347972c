// Whether thirteen cards are a complete hand under the default rules: groups of three or more, among them two
// sequences, one of which is pure. Small and exact, not fast: a game should keep its own, or take paplu_env's word.
//
// Wild cards left over never matter once there are two sequences: they lengthen the second. So all natural cards are
// laid into groups, and the wild cards that these need are counted. Runs of six or more split into shorter ones.

const RANKS = 13;
const JOKER = 52;
const LONGEST = 5;

// counts: copies by face, 53 numbers; isWild: by face.
export function isComplete(counts, isWild) {
  const left = counts.slice();
  const jokers = left[JOKER];
  left[JOKER] = 0;
  return lay(left, isWild, 0, jokers, 0, 0, 0);
}

// spare: wild cards set aside as substitutes; owed: substitutes that the groups so far need.
function lay(left, isWild, from, spare, owed, sequences, pure) {
  let face = from;
  while (face < JOKER && left[face] === 0) face++;
  let wildLeft = 0;
  for (let f = face; f < JOKER; f++) if (isWild[f]) wildLeft += left[f];
  if (owed > spare + wildLeft) return false;
  if (face === JOKER) return owed <= spare && sequences >= 2 && pure >= 1;
  const next = (add, used, sequence, isPure) =>
    lay(left, isWild, face, spare + add, owed + used, sequences + sequence, pure + isPure);

  if (isWild[face]) {
    left[face]--;
    const found = next(1, 0, 0, 0);
    left[face]++;
    if (found) return true;
  }
  return inRun(left, face, next) || inSet(left, face, next);
}

// Every run of three to five places that holds this card; each place is a natural card or a substitute.
function inRun(left, face, next) {
  const suit = face - (face % RANKS);
  const places = face % RANKS === 0 ? [0, RANKS] : [face % RANKS]; // an ace is low or high
  for (const place of places) {
    for (let length = 3; length <= LONGEST; length++) {
      for (let start = Math.max(0, place - length + 1); start <= place && start + length <= RANKS + 1; start++) {
        if (fill(left, suit, start, length, place, 0, 0, next)) return true;
      }
    }
  }
  return false;
}

function fill(left, suit, start, length, place, at, used, next) {
  if (at === length) return next(0, used, 1, used === 0 ? 1 : 0);
  const face = suit + ((start + at) % RANKS);
  if (left[face] > 0) {
    left[face]--;
    const found = fill(left, suit, start, length, place, at + 1, used, next);
    left[face]++;
    if (found) return true;
  }
  return start + at !== place && fill(left, suit, start, length, place, at + 1, used + 1, next);
}

// Every set that holds this card and some of the other suits; up to three cards it is filled by substitutes.
function inSet(left, face, next) {
  const others = [];
  for (let other = face % RANKS; other < JOKER; other += RANKS) {
    if (other !== face && left[other] > 0) others.push(other);
  }
  for (let subset = 0; subset < 1 << others.length; subset++) {
    const cards = [face, ...others.filter((_, bit) => (subset >> bit) & 1)];
    for (const card of cards) left[card]--;
    const found = next(0, Math.max(0, 3 - cards.length), 0, 0);
    for (const card of cards) left[card]++;
    if (found) return true;
  }
  return false;
}
