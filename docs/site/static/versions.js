// The choice between versions. The newest release is at the root of the site, and each older one in a folder named by its
// version. The one file versions.json at the root lists them: [{"version": "0.2.0", "path": ""}, {"version": "0.1.0",
// "path": "0.1.0/"}]. A build writes it with itself alone, and whoever publishes several versions replaces it.
const chooser = document.querySelector(".versions");
const version = chooser.dataset.version;
const content = new URL(document.documentElement.dataset.content_root, location.href);
const isOlder = content.pathname.endsWith(`/${version}/`);
const root = isOlder ? new URL("../", content) : content;

if (location.protocol !== "file:") {
  fetch(new URL("versions.json", root))
    .then((answer) => (answer.ok ? answer.json() : []))
    .then((versions) => {
      if (versions.length < 2) return;
      const select = chooser.querySelector("select");
      for (const each of versions) select.add(new Option(each.version, each.path, false, each.version === version));
      const page = location.href.slice(content.href.length);
      select.addEventListener("change", async () => {
        const home = new URL(select.value, root);
        const same = new URL(page, home);
        const exists = await fetch(same, { method: "HEAD" }).then((answer) => answer.ok, () => false);
        location.assign(exists ? same : home);
      });
      chooser.hidden = false;
    })
    .catch(() => {}); // without the list there is nothing to choose
}
