const page = document.querySelector("#page");

async function read(path, query = {}) {
  const response = await fetch(`/api/v1/content/${path}?${new URLSearchParams(query)}`);
  if (!response.ok) throw new Error(response.status === 404 ? "Not found" : `Error ${response.status}`);
  return response.json();
}

/** An element with text or elements inside. Text is never parsed as HTML. */
function element(name, properties, ...children) {
  const created = Object.assign(document.createElement(name), properties);
  created.append(...children.filter(Boolean));
  return created;
}

function image(media, width) {
  const source = (width) => `${media.url.replace("/image/0x0/", `/image/${width}x0/`)}?format=webp`;
  const srcset = `${source(width)} ${width}w, ${source(2 * width)} ${2 * width}w`;
  return element("img", { src: source(width), srcset, sizes: `${width}px`, width, alt: media.alt ?? "", loading: "lazy" });
}

// The text of a block may hold HTML of the editor; here only its text is shown.
const plain = (html) => new DOMParser().parseFromString(html, "text/html").body.textContent;

function block({ type, data }) {
  if (type === "paragraph") return element("p", {}, plain(data.text));
  if (type === "header") return element("h2", {}, plain(data.text));
  if (type === "quote") return element("blockquote", {}, plain(data.text));
  if (type === "image") return image({ url: data.url, alt: data.caption }, 480);
  if (type === "list") return element("ul", {}, ...data.items.map((item) => element("li", {}, plain(item.content))));
}

async function show() {
  const id = new URLSearchParams(location.search).get("post");
  if (id) {
    const post = await read(`post/${encodeURIComponent(id)}`, { hydrate: 1 });
    document.title = post.title;
    const by = element("p", {}, `${post.author[0].name}, ${new Date(post.published).toLocaleDateString("en")}`);
    const header = post.header?.map((media) => image(media, 480)) ?? [];
    page.replaceChildren(element("h1", {}, post.title), by, ...header, ...post.content.blocks.map(block).filter(Boolean));
  } else {
    const query = { order_by: "published", order_direction: "desc", limit: 20, hydrate: 1 };
    const { data } = await read("post", query);
    const entry = (post) => element("li", {}, element("a", { href: `?post=${post.id}` }, post.title), ` ${post.excerpt}`);
    page.replaceChildren(element("h1", {}, "Journal"), element("ul", {}, ...data.map(entry)));
  }
}

show().catch((error) => page.replaceChildren(element("p", {}, error.message)));
