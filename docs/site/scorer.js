// How the search ranks pages. Titles of decisions are whole sentences, and lists such as the change log have every word:
// both come after the pages that say how things are today. The other values are the generator's own.
const LATER = /^(adr\/|results\/|reference\/api)/;

var Scorer = {
  score: ([page, , , , score]) => (LATER.test(page) ? score - 30 : score),
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
