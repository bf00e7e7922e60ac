//! The files of a new project.

use crate::{cli::Template, project};

/// The folder of content.
pub(super) const CONTENT: &str = "content";

/// Sample content of the blog. The definitions have only a name, so that project.yaml alone has the
/// types.
const SAMPLES: [(&str, &str); 4] = [
    ("content/ContentTypeAuthor/ContentTypeDefinition.json", "{\"name\": \"author\"}\n"),
    ("content/ContentTypeAuthor/contentObjectAuthor.json", include_str!("files/authors.ndjson")),
    ("content/ContentTypePost/ContentTypeDefinition.json", "{\"name\": \"post\"}\n"),
    ("content/ContentTypePost/contentObjectPost.json", include_str!("files/posts.ndjson")),
];

/// Parts of the workflow and the README that only a project with content has.
const CONTENT_PARTS: [&str; 5] = [
    "          cms validate content\n",
    " --import content",
    "      - name: Import and publish\n        run: cms import content --update-existing\n",
    "| `content/` | content that belongs to the repository: the GitHub workflow replaces other versions of it |\n",
    ", sample content",
];

/// The files of a template by their paths in the project.
pub(super) fn files(template: Template) -> Vec<(&'static str, String)> {
    let (project, samples) = match template {
        Template::Blog => (include_str!("files/blog.yaml"), &SAMPLES[..]),
        Template::Empty => (include_str!("files/empty.yaml"), &[][..]),
    };
    let fitting = |text: &str| {
        let text = text.replace("{version}", env!("CARGO_PKG_VERSION"));
        match template {
            Template::Blog => text,
            Template::Empty => CONTENT_PARTS.iter().fold(text, |text, part| text.replace(part, "")),
        }
    };
    let mut files = vec![
        ("project.yaml", project.to_owned()),
        ("project.schema.json", project::SCHEMA.to_owned()),
        (".gitignore", include_str!("files/gitignore").to_owned()),
        (".github/workflows/cms.yml", fitting(include_str!("files/workflow.yml"))),
        ("README.md", fitting(include_str!("files/README.md"))),
    ];
    files.extend(samples.iter().map(|(path, text)| (*path, (*text).to_owned())));
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(template: Template, name: &str) -> String {
        files(template).into_iter().find(|(path, _)| *path == name).unwrap().1
    }

    #[test]
    fn workflow_is_that_of_the_guide() {
        let guide = include_str!("../../../../docs/how-to/ci.md");
        let documented = guide.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
        assert_eq!(file(Template::Blog, ".github/workflows/cms.yml"), documented);
    }

    #[test]
    fn empty_project_names_no_content() {
        for name in ["README.md", ".github/workflows/cms.yml"] {
            let (blog, empty) = (file(Template::Blog, name), file(Template::Empty, name));
            assert!(blog.contains(" content"), "{blog}");
            for command in ["--import", "cms import", "validate content", "`content/`", "sample"] {
                assert!(!empty.contains(command), "{name}: {empty}");
            }
            assert!(!blog.contains("{version}"), "{blog}");
        }
    }
}
