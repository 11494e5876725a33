// The list of contents next to the explorer, and addresses that lead to one operation.
const methods = ["get", "put", "post", "patch", "delete"];

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

// Swagger UI writes a space in a tag as an underscore in its ids.
const operationId = (tag, id) => `operations-${tag.replaceAll(" ", "_")}-${id}`;

export function nameHeadings(box) {
  for (const heading of box.querySelectorAll(".info .description h2")) heading.id = slug(heading.textContent);
}

function link(text, id, method) {
  const item = document.createElement("li");
  const a = document.createElement("a");
  a.href = `#${id}`;
  if (method) {
    const word = document.createElement("span");
    word.className = `verb verb-${method}`;
    word.textContent = method.toUpperCase();
    a.append(word);
  }
  a.append(text);
  item.append(a);
  return item;
}

function group(heading, items) {
  const title = document.createElement("p");
  title.className = "nav-heading";
  title.textContent = heading;
  const list = document.createElement("ul");
  list.append(...items);
  return [title, list];
}

export function contents(spec, box) {
  const out = document.createDocumentFragment();
  const guide = [...box.querySelectorAll(".info .description h2")].map((h) => link(h.textContent, h.id));
  out.append(...group("Guide", guide));
  for (const { name } of spec.tags) {
    const items = [];
    for (const [path, operations] of Object.entries(spec.paths)) {
      for (const method of methods) {
        const operation = operations[method];
        if (operation?.tags?.includes(name)) {
          items.push(link(operation.summary ?? path, operationId(name, operation.operationId), method));
        }
      }
    }
    if (items.length) out.append(...group(name, items));
  }
  return out;
}

// go opens the operation that an address names and brings it into view once it is open.
export function go(ui, spec, id) {
  if (!id) return;
  for (const operations of Object.values(spec.paths)) {
    for (const method of methods) {
      for (const tag of operations[method]?.tags ?? []) {
        const { operationId: name } = operations[method];
        if (operationId(tag, name) === id) ui.layoutActions.show(["operations", tag, name], true);
      }
    }
  }
  requestAnimationFrame(() => requestAnimationFrame(() => document.getElementById(id)?.scrollIntoView()));
}

