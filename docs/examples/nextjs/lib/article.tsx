import { image, type Block, type Post } from "./cms";

// The text of a block is HTML of the editor: bold, italic, links.
const html = (text: string) => ({ dangerouslySetInnerHTML: { __html: text } });

function show({ id, type, data }: Block) {
  if (type === "paragraph") return <p key={id} {...html(data.text)} />;
  if (type === "header") return <h2 key={id} {...html(data.text)} />;
  if (type === "quote") return <blockquote key={id} {...html(data.text)} />;
  if (type === "delimiter") return <hr key={id} />;
  if (type === "image") return <img key={id} src={image(data.url, 720)} alt={data.caption} width={data.width} />;
  if (type === "list") {
    const items = data.items.map((item: { content: string }, at: number) => <li key={at} {...html(item.content)} />);
    return data.style === "ordered" ? <ol key={id}>{items}</ol> : <ul key={id}>{items}</ul>;
  }
  return null;
}

export function Article({ post }: { post: Post }) {
  const [header] = post.header ?? [];
  return (
    <article>
      <h1>{post.title}</h1>
      <p>
        {post.author[0].name}, <time dateTime={post.published}>{post.published.slice(0, 10)}</time>
      </p>
      {header && (
        <img
          src={image(header.url, 720)}
          srcSet={[360, 720, 1440].map((width) => `${image(header.url, width)} ${width}w`).join(", ")}
          sizes="(max-width: 720px) 100vw, 720px"
          width={header.width}
          height={header.height}
          alt={header.alt ?? ""}
        />
      )}
      {post.content.blocks.map(show)}
    </article>
  );
}
