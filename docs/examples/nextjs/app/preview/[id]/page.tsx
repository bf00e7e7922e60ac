import { Article } from "../../../lib/article";
import { preview, type Post } from "../../../lib/cms";
import { Follow } from "./follow";

export const dynamic = "force-dynamic";
export const metadata = { referrer: "no-referrer", robots: "noindex" };

type Props = { params: Promise<{ id: string }>; searchParams: Promise<{ token?: string }> };

export default async function Preview({ params, searchParams }: Props) {
  const [{ id }, { token = "" }] = await Promise.all([params, searchParams]);
  const post = await preview<Post>("post", id, token).catch(() => undefined);
  if (!post) return <p>This preview has expired. Open it again from the editor.</p>;
  return (
    <>
      <Follow origin={process.env.CMS_ORIGIN!} />
      <Article post={post} />
    </>
  );
}
