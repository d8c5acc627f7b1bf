// Finds a page, view, case, upgrade, alert or run by a few words. Arrow keys walk the results, Enter opens one.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { overviewOptions, searchOptions } from "@/api/generated/@tanstack/react-query.gen";
import { navigation } from "@/components/navigation";
import { hitLink, KINDS, withWords } from "@/components/search-model";
import { count } from "@/format";
import { paths } from "@/paths";
import { site } from "@/published";
import { Dialog } from "@/ui/Dialog";
import { Failed } from "@/ui/Notes";

/** From the last key until the service is asked. */
const PAUSE_MS = 150;
const pages = navigation.flatMap(({ destinations }) => destinations);

export function SearchDialog({ close }: { close: () => void }) {
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const asked = useAfterPause(text.trim());
  const found = useQuery({
    ...searchOptions({ query: { q: asked } }),
    enabled: asked !== "" && !site,
    placeholderData: keepPreviousData,
  });
  const views = useQuery({ ...overviewOptions(), enabled: !site }).data?.views ?? [];
  const list = useRef<HTMLUListElement>(null);
  const field = useRef<HTMLInputElement>(null);
  const hits = asked === "" ? [] : (found.data ?? []);
  const results = [
    ...withWords(asked, pages, ({ title }) => title).map(({ title, link }) => ({
      key: title,
      kind: "Page",
      title,
      detail: "",
      link,
    })),
    ...withWords(asked, views, ({ name }) => name).map((view) => ({
      key: `View ${view.name}`,
      kind: "View",
      title: view.name,
      detail: "",
      link: paths.view(view),
    })),
    ...hits.map((hit) => ({
      key: `${hit.kind} ${hit.id} ${hit.before}`,
      kind: KINDS[hit.kind],
      title: hit.title,
      detail: hit.detail,
      link: hitLink(hit),
    })),
  ];
  const isNothing = asked !== "" && results.length === 0 && found.isSuccess && !found.isPlaceholderData;

  const openFirst = (event: FormEvent) => {
    event.preventDefault();
    const [first] = results;
    if (!first || asked !== text.trim() || found.isPlaceholderData) return; // those are for other words
    close();
    void navigate(first.link);
  };
  const walk = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const places = [field.current, ...(list.current?.querySelectorAll("a") ?? [])];
    const now = places.indexOf(document.activeElement as HTMLInputElement | HTMLAnchorElement);
    places[Math.min(Math.max(now + step, 0), places.length - 1)]?.focus();
  };

  return (
    <Dialog title="Search" close={close}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: arrow keys are a shortcut beside the Tab key */}
      <div onKeyDown={walk}>
        <form onSubmit={openFirst}>
          <label className="field">
            <span>Case, upgrade, alert, run, view or page</span>
            <input
              ref={field}
              type="search"
              value={text}
              autoComplete="off"
              placeholder="ecdsa p-256"
              onChange={(event) => setText(event.target.value)}
            />
          </label>
        </form>
        {found.isError && <Failed error={found.error} />}
        <p className="visually-hidden" role="status">
          {asked === "" ? "" : count(results.length, "result")}
        </p>
        {isNothing && <p>Nothing has all of these words.</p>}
        <ul className="results" ref={list}>
          {results.map(({ key, kind, title, detail, link }) => (
            <li key={key}>
              <Link {...link} onClick={close}>
                <span className="kind">{kind}</span>
                <span>
                  {title}
                  {detail !== "" && <span className="about">{detail}</span>}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      </div>
      <p className="actions">
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </Dialog>
  );
}

function useAfterPause(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
