// One line through the versions of a library, whatever their builds: it is dashed where the build changes, since the
// build may cause a part of the difference. Pure.

export interface Built {
  x: number;
  build: string;
}

export interface JoinedBuilds<Place extends Built> {
  /** neighbouring versions of one build: the solid parts */
  runs: Place[][];
  /** neighbouring versions of two builds: the dashed parts, each with a mark at its end */
  joins: [from: Place, to: Place][];
}

/** Where neighbouring versions share a build, nothing is dashed between them. `slotOf`: builds of one version share it. */
export function joinedBuilds<Place extends Built>(
  places: readonly Place[],
  slotOf: (place: Place) => number = ({ x }) => x,
): JoinedBuilds<Place> {
  const slots = new Map<number, Place[]>();
  for (const place of [...places].sort((a, b) => slotOf(a) - slotOf(b))) {
    slots.set(slotOf(place), [...(slots.get(slotOf(place)) ?? []), place]);
  }
  const runs: Place[][] = [];
  const joins: [Place, Place][] = [];
  let open = new Map<string, Place[]>(); // runs up to the last version, by build
  for (const builds of slots.values()) {
    const [from] = [...open.values()].map((run) => run.at(-1));
    const [to] = builds;
    if (from && to && !builds.some(({ build }) => open.has(build))) joins.push([from, to]);
    const next = new Map<string, Place[]>();
    for (const place of builds) {
      const run = open.get(place.build) ?? [];
      if (run.length === 0) runs.push(run);
      run.push(place);
      next.set(place.build, run);
    }
    open = next;
  }
  return { runs, joins };
}
