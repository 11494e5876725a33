// The API explorer: Swagger UI over the served contract, in our own frame and without what needs other hosts.
import "./docs-scroll.js";
import SwaggerUI from "swagger-ui-dist/swagger-ui-es-bundle.js";
import { keepToken, restoreToken } from "./docs-auth.js";
import { keepLabelled } from "./docs-label.js";
import { contents, go, nameHeadings } from "./docs-nav.js";

const box = document.getElementById("explorer");

// Swagger UI's own frame brings a second main, and a list of servers that has one entry.
const frame = ({ React }) => ({
  components: {
    Frame({ getComponent }) {
      const part = (name) => React.createElement(getComponent(name, true));
      return React.createElement(
        "div",
        { className: "swagger-ui" },
        React.createElement(getComponent("SvgAssets")),
        part("InfoContainer"),
        React.createElement("div", { className: "authorize" }, part("AuthorizeBtnContainer")),
        part("operations"),
        part("Webhooks"),
      );
    },
  },
});

function show(spec) {
  box.replaceChildren();
  const ui = SwaggerUI({
    spec,
    domNode: box,
    layout: "Frame",
    plugins: [frame, keepToken],
    deepLinking: false,
    docExpansion: "list",
    defaultModelsExpandDepth: -1,
    defaultModelExpandDepth: 2,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    persistAuthorization: false,
    validatorUrl: null,
    syntaxHighlight: { activated: false },
    onComplete: () => drawn(() => frameIt(spec, ui)),
  });
}

// Swagger UI says that it is complete before the text is on the page.
function drawn(then) {
  if (box.querySelector(".info .description h2")) then();
  else requestAnimationFrame(() => drawn(then));
}

function frameIt(spec, ui) {
  nameHeadings(box);
  keepLabelled(box);
  restoreToken(ui);
  const list = document.getElementById("contents");
  list.append(contents(spec, box));
  const follow = () => go(ui, spec, decodeURIComponent(location.hash.slice(1)));
  addEventListener("hashchange", follow);
  // A click on the link of the present address changes no hash; on a phone the list is in the way.
  list.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    if (list.matches(":popover-open")) list.hidePopover();
    if (link.hash === location.hash) follow();
  });
  follow();
}

// Swagger UI sends the examples of parameters. Those of optional ones would filter every list to nothing and give every
// call the same request id, so they are only described.
function describeExample(parameter) {
  if (parameter.required) return parameter;
  const { example, examples, ...rest } = parameter;
  const { example: inner, ...schema } = parameter.schema ?? {};
  const value = example ?? Object.values(examples ?? {})[0]?.value ?? inner;
  const text = [rest.description?.trim(), value === undefined ? "" : `For example \`${value}\`.`].filter(Boolean).join(" ");
  return { ...rest, schema, description: text };
}

// Swagger UI follows references only after an operation was opened, and shows a nameless parameter meanwhile.
function inlineParameters(spec) {
  const shared = spec.components?.parameters ?? {};
  const follow = (holder) => {
    if (!holder?.parameters) return;
    holder.parameters = holder.parameters.map((p) => describeExample(shared[p.$ref?.split("/").pop()] ?? p));
  };
  for (const path of Object.values(spec.paths)) {
    follow(path);
    for (const operation of Object.values(path)) follow(operation);
  }
}

fetch(box.dataset.spec)
  .then((answer) => answer.json())
  .then((spec) => {
    // A relative server means this installation; requests made here need it in full.
    spec.servers = [{ url: new URL(spec.servers?.[0]?.url ?? "/", location.origin).href }];
    inlineParameters(spec);
    show(spec);
  })
  .catch(() => {
    box.lastElementChild.textContent = "The OpenAPI document could not be loaded. Reload the page to try again.";
  });
