// The calls of both versions as boxes below each other. Select a box to zoom, move with the arrow keys.
import {
  type CSSProperties,
  type KeyboardEvent,
  memo,
  type SyntheticEvent,
  useMemo,
  useRef,
  useState,
} from "react";
import { flushSync } from "react-dom";
import type { CallNode } from "@/api/generated";
import {
  changeText,
  costText,
  type DrawnBox,
  drawnOf,
  type FlameBox,
  flameOf,
  nameOf,
  neighbourOf,
  reachable,
} from "./flame-model";

export function FlameGraph({ label, amounts, root }: { label: string; amounts: string; root: CallNode }) {
  const boxes = useMemo(() => flameOf(root), [root]);
  const [whole] = boxes;
  if (!whole) return null;
  return <Boxes label={label} amounts={amounts} boxes={boxes} whole={whole} />;
}

interface Props {
  label: string;
  /** what the numbers are of */
  amounts: string;
  boxes: FlameBox[];
  whole: FlameBox;
}

function Boxes({ label, amounts, boxes, whole }: Props) {
  const graph = useRef<HTMLFieldSetElement>(null);
  const [zoomed, setZoomed] = useState(whole);
  const [chosen, setChosen] = useState(whole);
  const [pointed, setPointed] = useState<FlameBox>();
  const drawn = useMemo(() => drawnOf(boxes, zoomed), [boxes, zoomed]);
  const stop = reachable(drawn, chosen);
  const levels = 1 + Math.max(...drawn.map(({ box }) => box.level));

  const boxAt = (event: SyntheticEvent): FlameBox | undefined => {
    const button = (event.target as Element).closest<HTMLElement>("button[data-box]");
    return button ? boxes[Number(button.dataset.box)] : undefined;
  };
  const focus = (box: FlameBox) =>
    graph.current?.querySelector<HTMLElement>(`button[data-box="${box.index}"]`)?.focus();
  const zoom = (box: FlameBox) => {
    flushSync(() => setZoomed(box));
    focus(reachable(drawnOf(boxes, box), chosen));
  };
  const walk = (event: KeyboardEvent) => {
    if (event.key === "Escape" && zoomed !== whole) return zoom(whole);
    const next = neighbourOf(drawn, stop, event.key);
    if (!next) return;
    event.preventDefault();
    focus(next);
  };
  return (
    <div className="flame">
      <p data-not-drawn="">
        <button type="button" disabled={zoomed === whole} onClick={() => zoom(whole)}>
          Whole handshake
        </button>
      </p>
      <fieldset
        ref={graph}
        className="boxes"
        aria-label={label}
        style={{ "--levels": levels } as CSSProperties}
        onKeyDown={walk}
        onFocus={(event) => setChosen(boxAt(event) ?? chosen)}
        onClick={(event) => setZoomed(boxAt(event) ?? zoomed)}
        onMouseOver={(event) => setPointed(boxAt(event))}
        onMouseLeave={() => setPointed(undefined)}
      >
        {drawn.map((each) => (
          <Box key={each.box.index} drawn={each} amounts={amounts} isStop={each.box === stop} />
        ))}
      </fieldset>
      <p className="words" aria-hidden data-not-drawn="">
        <code>{nameOf((pointed ?? stop).node)}</code>: {costText((pointed ?? stop).node, amounts)}
      </p>
    </div>
  );
}

interface BoxProps {
  drawn: DrawnBox;
  amounts: string;
  isStop: boolean;
}

/** Drawn again only if it moves: pointing at a box leaves the others as they are. */
const Box = memo(function Box({ drawn: { box, start, width, isCaller }, amounts, isStop }: BoxProps) {
  const { node, level, tone, strength } = box;
  const style = {
    left: `${100 * start}%`,
    width: `${100 * width}%`,
    "--level": level,
    "--strength": `${Math.round(100 * strength)}%`,
  };
  return (
    <button
      type="button"
      className={isCaller ? `${tone} caller` : tone}
      style={style as CSSProperties}
      data-box={box.index}
      tabIndex={isStop ? 0 : -1}
      aria-label={`${nameOf(node)}: ${costText(node, amounts)}`}
    >
      <span className="text">
        {nameOf(node)} {changeText(node)}
      </span>
    </button>
  );
});
