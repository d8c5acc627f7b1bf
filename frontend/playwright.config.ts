import { defineConfig } from "@playwright/test";

// The service under test is already running and has results: see README.md.
export default defineConfig({
  testDir: "e2e",
  outputDir: process.env.KEXBENCH_E2E_OUTPUT ?? "test-results",
  workers: 1,
  // A busy machine is no failure.
  timeout: 180_000,
  expect: { timeout: 20_000 },
  reporter: "list",
  use: {
    baseURL: process.env.KEXBENCH_URL ?? "http://127.0.0.1:8350",
    trace: "off",
    // A link that is not there, or that nobody can reach, fails long before the test does.
    actionTimeout: 15_000,
    launchOptions: {
      executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
      args: [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
      ],
    },
  },
});
