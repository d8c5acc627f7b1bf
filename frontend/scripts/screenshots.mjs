// Pictures of the dashboard for the documentation: node scripts/screenshots.mjs OUTPUT-FOLDER
// KEXBENCH_URL is a running service with results.

import { join } from "node:path";
import { launch } from "./browser.mjs";

const service = process.env.KEXBENCH_URL ?? "http://127.0.0.1:8350";
const [folder] = process.argv.slice(2);
const PICTURES = [{ name: "dashboard", path: "/", width: 1360, height: 1180 }];

const browser = await launch();
for (const { name, path, width, height } of PICTURES) {
  const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: 1.25 });
  await page.goto(service + path, { waitUntil: "networkidle" });
  await page.locator("table.heatmap").waitFor();
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await page.close();
}
await browser.close();
