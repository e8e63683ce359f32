// What every page of the console has: asking for confirmation, copying, and asking the gateway something.
"use strict";

// Asks the gateway; `body` is sent as JSON, and `signal` can give it up. Throws an Error whose message can be shown, with all that
// was answered as its `answer`.
async function ask(path, body, signal) {
  const token = document.querySelector("meta[name=csrf]").content;
  const sent = body === undefined
    ? {}
    : { method: "POST", headers: { "content-type": "application/json", "x-csrf-token": token }, body: JSON.stringify(body) };
  const answer = await fetch(path, { credentials: "same-origin", cache: "no-store", redirect: "error", signal, ...sent });
  if (answer.status === 401) {
    location.reload();
    throw new Error("Signed out.");
  }
  const text = await answer.text();
  let read;
  try {
    read = JSON.parse(text);
  } catch {
    throw new Error(`The gateway answered ${answer.status}.`);
  }
  if (!answer.ok) throw Object.assign(new Error(read.error ?? `The gateway answered ${answer.status}.`), { answer: read });
  return read;
}

// An element with attributes and children; texts never become markup.
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

document.addEventListener("submit", (event) => {
  if (event.target.getAttribute("action") === "/sign-out") sessionStorage.clear();
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) return event.preventDefault();
  // Of two clicks the browser shows the second one's answer, and a secret is in the first.
  if (event.target.method !== "post") return;
  if (event.target.dataset.sent) return event.preventDefault();
  event.target.dataset.sent = "true";
});

// A page that comes back as it was left may be sent again.
addEventListener("pageshow", () => {
  for (const form of document.forms) delete form.dataset.sent;
});

// What a link takes along to the page that it leads to, in this tab alone.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-carry]");
  if (link) sessionStorage.setItem("allow", document.getElementById(link.dataset.carry).textContent);
});

document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const from = document.getElementById(button.dataset.copy);
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(from.value ?? from.textContent);
    button.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(from);
    button.textContent = "Selected: copy it now";
  }
  setTimeout(() => { button.textContent = label; }, 2000);
});
