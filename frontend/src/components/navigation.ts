// The pages that every page leads to, in groups.
import { paths } from "@/paths";
import { site } from "@/published";

export interface Destination {
  title: string;
  link: ReturnType<(typeof paths)[keyof typeof paths]>;
  /** whether a published site has it too */
  isPublished?: boolean;
  /** whether the number of open alerts is beside it */
  countsAlerts?: boolean;
}

const EVERYWHERE: readonly { title: string; destinations: readonly Destination[] }[] = [
  {
    title: "Results",
    destinations: [
      { title: "Overview", link: paths.home(), isPublished: true },
      { title: "Trends", link: paths.trends(), isPublished: true },
      { title: "CPUs", link: paths.cpus(), isPublished: true },
      { title: "Compare", link: paths.compare(), isPublished: true },
      { title: "Upgrades", link: paths.upgrades(), isPublished: true },
      { title: "Alerts", link: paths.alerts(), countsAlerts: true },
    ],
  },
  {
    title: "Questions",
    destinations: [
      { title: "Stacks", link: paths.stacks(), isPublished: true },
      { title: "Paths", link: paths.networkPaths(), isPublished: true },
      { title: "Life of a connection", link: paths.life(), isPublished: true },
      { title: "Forward secrecy", link: paths.forwardSecrecy() },
      { title: "Scaling", link: paths.scaling() },
      { title: "Capacity", link: paths.capacity() },
      { title: "Articles", link: paths.articles() },
    ],
  },
  {
    title: "Measuring",
    destinations: [
      { title: "Queue", link: paths.queue() },
      { title: "Runs", link: paths.runs() },
      { title: "Commits", link: paths.commits() },
      { title: "Bisections", link: paths.bisections() },
    ],
  },
  {
    title: "Trust",
    destinations: [
      { title: "Machine", link: paths.machine() },
      { title: "Fleet", link: paths.fleet() },
      { title: "Scorecard", link: paths.scorecard() },
    ],
  },
];

export const navigation = EVERYWHERE.map(({ title, destinations }) => ({
  title,
  destinations: destinations.filter(({ isPublished }) => !site || isPublished),
})).filter(({ destinations }) => destinations.length > 0);
