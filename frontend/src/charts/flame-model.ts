// A flame graph of two versions: the boxes of all calls, and which are drawn after a zoom. Pure.
import { hierarchy, partition } from "d3-hierarchy";
import type { CallNode } from "@/api/generated";
import { amount, percent } from "@/format";

export interface FlameBox {
  /** its place in the list of all boxes */
  index: number;
  node: CallNode;
  /** 0 for the whole handshake */
  level: number;
  parent: FlameBox | undefined;
  /** the share of the whole width where it begins, and that it takes */
  start: number;
  width: number;
  tone: "more" | "less" | "same";
  /** 0 to 1: how strong the tone's colour is */
  strength: number;
}

/** A box as it is drawn; `start` and `width` are shares of what is zoomed into. */
export interface DrawnBox {
  box: FlameBox;
  start: number;
  width: number;
  /** calls what is zoomed into, or something that does */
  isCaller: boolean;
}

/** A change of this share of the whole cost has the full colour, where none is larger. */
const FULL_SHARE = 0.01;
/** Weaker colours would look like none. */
const VISIBLE_STRENGTH = 0.05;
/** A box below this share of the width is a hair line, and is left out until it is zoomed into. */
const THINNEST = 0.002;

/** All calls, callers before what they call. A box is as wide as the cost of both versions together, so that
 * boxes below each other add up, and what one version alone calls is seen too. */
export function flameOf(root: CallNode): FlameBox[] {
  const tree = partition<CallNode>()(hierarchy(root, ({ children }) => children).sum(ownOfBoth));
  const nodes: (typeof tree)[] = [];
  tree.eachBefore((node) => nodes.push(node));
  const largest = Math.max(...nodes.map(({ data }) => Math.abs(changeOf(data))));
  const full = Math.max(largest, FULL_SHARE * Math.max(root.before, root.after));
  const boxes = new Map<typeof tree, FlameBox>();
  for (const [index, node] of nodes.entries()) {
    const change = changeOf(node.data);
    const strength = full === 0 ? 0 : Math.abs(change) / full;
    boxes.set(node, {
      index,
      node: node.data,
      level: node.depth,
      parent: node.parent ? boxes.get(node.parent) : undefined,
      start: node.x0,
      width: node.x1 - node.x0,
      tone: strength < VISIBLE_STRENGTH ? "same" : change < 0 ? "less" : "more",
      strength,
    });
  }
  return [...boxes.values()];
}

function ownOfBoth(node: CallNode): number {
  const ofCallees = node.children.reduce((sum, child) => sum + child.before + child.after, 0);
  return Math.max(0, node.before + node.after - ofCallees);
}

function changeOf({ before, after }: CallNode): number {
  return after - before;
}

/** The boxes that are wide enough: the zoomed one over the whole width, what it calls, and its callers. */
export function drawnOf(boxes: readonly FlameBox[], zoomed: FlameBox): DrawnBox[] {
  const callers = new Set(callersOf(zoomed));
  return boxes.flatMap((box): DrawnBox[] => {
    if (callers.has(box)) return [{ box, start: 0, width: 1, isCaller: true }];
    if (box !== zoomed && !callersOf(box).includes(zoomed)) return [];
    const width = box === zoomed ? 1 : box.width / zoomed.width;
    const start = (box.start - zoomed.start) / (zoomed.width || 1);
    return width < THINNEST ? [] : [{ box, start, width, isCaller: false }];
  });
}

function callersOf(box: FlameBox): FlameBox[] {
  return box.parent ? [box.parent, ...callersOf(box.parent)] : [];
}

/** The box that the tab key reaches: the last chosen one, or its nearest caller that is drawn. */
export function reachable(drawn: readonly DrawnBox[], chosen: FlameBox): FlameBox {
  if (!chosen.parent || drawn.some(({ box }) => box === chosen)) return chosen;
  return reachable(drawn, chosen.parent);
}

/** Where an arrow key leads: to the caller, to the first function that is called, or along the level. */
export function neighbourOf(drawn: readonly DrawnBox[], from: FlameBox, key: string): FlameBox | undefined {
  const level = drawn.map(({ box }) => box).filter((box) => box.level === from.level);
  const place = level.indexOf(from);
  switch (key) {
    case "ArrowUp":
      return from.parent;
    case "ArrowDown":
      return drawn.find(({ box }) => box.parent === from)?.box;
    case "ArrowLeft":
      return level[place - 1];
    case "ArrowRight":
      return level[place + 1];
    default:
      return undefined;
  }
}

/** "sign", "rsa_private → ossl_rsa_private" */
export function nameOf({ name, later_name }: CallNode): string {
  return name === later_name ? name : `${name} → ${later_name}`;
}

/** "+25.0%", "new", "gone" */
export function changeText({ before, after }: CallNode): string {
  if (before === 0) return "new";
  return after === 0 ? "gone" : percent(after / before);
}

/** "1,200,000 → 1,500,000 instructions (+25.0%)" */
export function costText(node: CallNode, amounts: string): string {
  const [before, after] = [node.before, node.after].map((cost) => amount(Math.round(cost)));
  return `${before} → ${after} ${amounts} (${changeText(node)})`;
}
