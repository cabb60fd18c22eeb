// Reads one JSON request a line, {verb, text}, and answers each with one line: what Mermaid makes of the text.
// A browser that lays nothing out is enough for that: every text is said to be of the same size.
import { createInterface } from "node:readline";
import { JSDOM } from "jsdom";

const { window } = new JSDOM("<!DOCTYPE html><body></body>", { pretendToBeVisual: true });
const names = ["document", "Element", "HTMLElement", "SVGElement", "Node", "DOMParser", "XMLSerializer"];
Object.assign(globalThis, { window }, Object.fromEntries(names.map((name) => [name, window[name]])));
globalThis.CSSStyleSheet = window.CSSStyleSheet;
globalThis.getComputedStyle = window.getComputedStyle.bind(window);
window.SVGElement.prototype.getBBox = () => ({ x: 0, y: 0, width: 80, height: 20 });
window.SVGElement.prototype.getComputedTextLength = () => 80;

const { default: mermaid } = await import("mermaid");
mermaid.initialize({ startOnLoad: false });

async function read(text) {
  await mermaid.parse(text);
  const { db, type } = await mermaid.mermaidAPI.getDiagramFromText(text);
  return {
    type,
    nodes: [...db.getVertices().values()].map(({ id, type, classes }) => ({ id, shape: type, classes })),
    edges: db.getEdges().map(({ start, end, stroke }) => ({ start, end, stroke })),
  };
}

async function draw(text) {
  const { svg } = await mermaid.render("drawing", text);
  const { document } = new JSDOM(svg).window;
  const words = (element) => element.textContent;
  return {
    nodes: Object.fromEntries(
      [...document.querySelectorAll(".node")].map((node) => [
        node.id.replace(/^drawing-flowchart-/, "").replace(/-\d+$/, ""),
        words(node.querySelector(".label")),
      ]),
    ),
    edges: [...document.querySelectorAll(".edgeLabel .label")].map(words),
    elements: [...new Set([...document.querySelectorAll(".label *")].map((one) => one.localName))].sort(),
  };
}

const verbs = { read, draw };
for await (const line of createInterface({ input: process.stdin })) {
  const { verb, text } = JSON.parse(line);
  const answer = await verbs[verb](text).catch((error) => ({ error: String(error.message ?? error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
