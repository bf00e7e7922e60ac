import Link from "next/link";
import { list, type Post } from "../lib/cms";

export default async function Home() {
  const posts = await list<Post>("post", { order_by: "published", order_direction: "desc", limit: 20 });
  return (
    <main>
      <h1>Journal</h1>
      {posts.map((post) => (
        <section key={post.id}>
          <h2>
            <Link href={`/posts/${post.slug}`}>{post.title}</Link>
          </h2>
          <p>{post.excerpt}</p>
        </section>
      ))}
    </main>
  );
}
