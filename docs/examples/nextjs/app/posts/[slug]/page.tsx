import { notFound } from "next/navigation";
import { Article } from "../../../lib/article";
import { list, type Post } from "../../../lib/cms";

type Props = { params: Promise<{ slug: string }> };

export async function generateStaticParams() {
  const posts = await list<Post>("post", { limit: 1000 });
  return posts.map(({ slug }) => ({ slug }));
}

export default async function Page({ params }: Props) {
  const { slug } = await params;
  const filters = { slug: { type: "equals", filter: slug } };
  const [post] = await list<Post>("post", { filters, hydrate: 1, limit: 1 });
  if (!post) notFound();
  return <Article post={post} />;
}
