// Draws /openapi.json: groups, operations, what they take and answer, and a form to try each.

/** Frames of a stream that are shown before the page stops reading. */
const STREAM_BYTES_MAX = 200_000;

const make = (name, properties = {}, ...children) => {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter((child) => child != null));
  return element;
};

const pretty = (value) => JSON.stringify(value, null, 2);

/** What a `$ref` stands for. */
const resolve = (description, part) =>
  part?.$ref ? part.$ref.slice(2).split("/").reduce((at, name) => at[name], description) : part;

/** A schema in a line: the names of others, not their content. */
function shape(schema) {
  if (schema == null || Object.keys(schema).length === 0) return "anything";
  if (schema.$ref) return schema.$ref.split("/").pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((word) => JSON.stringify(word)).join(" | ");
  for (const [key, word] of [["anyOf", " or "], ["allOf", " and "]]) {
    if (schema[key]) return schema[key].map(shape).join(word);
  }
  const types = [schema.type].flat().map((type) => (type === "array" ? `list of ${shape(schema.items)}` : type));
  return types.join(" or ");
}

/** The fields of an object, one row each. */
function fields(description, schema, depth = 0) {
  const whole = resolve(description, schema);
  const parts = (whole?.allOf ?? whole?.anyOf ?? [whole]).map((part) => resolve(description, part));
  const rows = parts.flatMap((part) => {
    const rest = part?.type === "array" ? resolve(description, part.items) : part;
    return Object.entries(rest?.properties ?? {}).map(([name, field]) => [name, field, rest.required?.includes(name)]);
  });
  if (rows.length === 0 || depth > 3) return null;
  const row = ([name, field, needed]) =>
    make("tr", {}, make("td", {}, make("code", { textContent: name }), needed ? "" : " (optional)"),
      make("td", {}, make("code", { textContent: shape(field) })),
      make("td", {}, field.description ?? "", nested(description, field, depth)));
  return make("table", {}, make("tbody", {}, ...rows.map(row)));
}

/** What stands inside a field, drawn when it is opened. */
function nested(description, field, depth) {
  if (!fields(description, field, depth + 1)) return null;
  const box = make("details", {}, make("summary", { textContent: "its fields" }));
  box.addEventListener("toggle", () => box.append(fields(description, field, depth + 1)), { once: true });
  return box;
}

function contents(description, content = {}) {
  return Object.entries(content).flatMap(([kind, { schema, example }]) => [
    make("p", {}, make("code", { textContent: `${kind}: ${shape(schema)}` })),
    fields(description, schema),
    example === undefined ? null : make("pre", { textContent: pretty(example) }),
  ]).filter(Boolean);
}

function answers(description, responses) {
  return Object.entries(responses).map(([status, given]) => {
    const response = resolve(description, given);
    const summary = make("summary", { textContent: `${status} ${response.description}` });
    return make("details", {}, summary, ...contents(description, response.content));
  });
}

/** A body to begin with: every field that is needed. */
function blank(description, schema) {
  const whole = resolve(description, schema);
  return Object.fromEntries((whole?.required ?? []).map((name) => [name, ""]));
}

/** The form that sends an operation, and what it answered. */
function form(description, method, path, operation) {
  const parameters = (operation.parameters ?? []).map((given) => resolve(description, given));
  const inputs = parameters.map((parameter) => {
    const label = `${parameter.name} (${parameter.in})${parameter.required ? "" : ", optional"} ${parameter.description ?? ""}`;
    return { parameter, input: make("input", { name: parameter.name, required: parameter.required, ariaLabel: label }), label };
  });
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const body = schema && make("textarea", { rows: 6, ariaLabel: "body", value: pretty(blank(description, schema)) });
  const result = make("pre", { hidden: true, ariaLive: "polite" });
  const box = make("form", {}, ...inputs.map(({ input, label }) => make("label", {}, label, input)),
    body && make("label", {}, "body", body), make("button", { textContent: "Send" }), result);
  box.addEventListener("submit", async (event) => {
    event.preventDefault();
    result.hidden = false;
    result.textContent = "…";
    try {
      await send(method, path, inputs, body?.value, result);
    } catch (error) {
      result.textContent = `It could not be sent: ${error.message}`;
    }
  });
  return box;
}

/** Where a request goes and with what headers, from what was typed. */
function addressed(path, inputs) {
  const [query, headers] = [new URLSearchParams(), new Headers()];
  for (const { parameter, input } of inputs.filter(({ input }) => input.value !== "")) {
    if (parameter.in === "path") path = path.replace(`{${parameter.name}}`, encodeURIComponent(input.value));
    if (parameter.in === "query") query.append(parameter.name, input.value);
    if (parameter.in === "header") headers.set(parameter.name, input.value);
  }
  const key = document.getElementById("key").value;
  if (key) headers.set("Authorization", `Bearer ${key}`);
  return [query.size ? `${path}?${query}` : path, headers];
}

async function send(method, path, inputs, body, result) {
  const [address, headers] = addressed(path, inputs);
  if (body) headers.set("Content-Type", "application/json");
  const response = await fetch(address, { method: method.toUpperCase(), headers, body: body || undefined });
  result.textContent = `${response.status} ${response.statusText}\n`;
  if (response.headers.get("Content-Type")?.includes("json")) {
    result.textContent += pretty(await response.json());
    return;
  }
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  while (reader && result.textContent.length < STREAM_BYTES_MAX) {
    const { value, done } = await reader.read();
    if (done) return;
    result.textContent += value;
  }
  await reader?.cancel();
}

function drawn(description, method, path, operation) {
  const title = make("summary", {}, make("span", { className: "method", textContent: method }),
    make("code", { textContent: path }), ` ${operation.summary}`);
  const box = make("details", { id: operation.operationId }, title);
  box.addEventListener("toggle", () => {
    const scope = operation["x-scope"];
    const request = operation.requestBody;
    box.append(...[
      operation.description && make("p", { textContent: operation.description }),
      scope && make("p", { textContent: `Where keys are configured it needs the scope ${scope}.` }),
      request && make("h3", { textContent: "Body" }), ...contents(description, request?.content),
      make("h3", { textContent: "Answers" }), ...answers(description, operation.responses),
      make("h3", { textContent: "Try it" }), form(description, method, path, operation),
    ].filter(Boolean));
  }, { once: true });
  return box;
}

function draw(description) {
  document.getElementById("about").textContent = `Version ${description.info.version}. ${description.info.description}`;
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })));
  for (const { name, description: about } of description.tags) {
    const own = operations.filter(({ operation }) => operation.tags.includes(name));
    document.getElementById("groups").append(make("a", { href: `#group-${name}`, textContent: name }));
    document.getElementById("operations").append(make("section", { id: `group-${name}` },
      make("h2", { textContent: name }), make("p", { textContent: about }),
      ...own.map(({ method, path, operation }) => drawn(description, method, path, operation))));
  }
}

try {
  draw(await (await fetch("/openapi.json")).json());
} catch (error) {
  document.getElementById("about").textContent = `The description cannot be shown: ${error.message}`;
}
