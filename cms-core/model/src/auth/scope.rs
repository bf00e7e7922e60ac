//! The rights that a request needs, and those that the rules of a scoped key grant, see
//! docs/reference/keys.md#rights-per-endpoint

use std::ops::BitOr;

use crate::{
    content_type::builtin::{PLUGIN_SETTINGS, WEBHOOKS},
    wire::key::Rule,
};

/// A set of the four rights on a content type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access(u8);

impl Access {
    pub const NONE: Self = Self(0);
    pub const CREATE: Self = Self(1);
    pub const READ: Self = Self(2);
    pub const UPDATE: Self = Self(4);
    pub const DELETE: Self = Self(8);
    pub const ALL: Self = Self(1 | 2 | 4 | 8);
    /// The rights that `GET removed` needs. It only reads, but ids of deleted objects are shown to callers that may
    /// delete.
    pub const READ_DELETED: Self = Self(2 | 8);
    /// The rights that restoring a deleted object needs.
    pub const RESTORE: Self = Self(1 | 2);

    /// The rights that copying an object needs: to read it and to create the copy.
    pub const DUPLICATE: Self = Self(1 | 2);

    /// Returns the rights of editors and authors on a type: all rights, or no rights if the type is a
    /// system type that configures the server.
    pub fn editor(content_type: &str) -> Self {
        if [WEBHOOKS, PLUGIN_SETTINGS].contains(&content_type) { Self::NONE } else { Self::ALL }
    }

    /// Returns whether every right of `other` is in this set.
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether requests that need these rights write: they are refused to callers that can never write. A bulk
    /// delete needs the same rights as [`Self::READ_DELETED`], which only reads: so bulk jobs call
    /// `Caller::require_write` themselves.
    pub fn is_write(self) -> bool {
        self != Self::NONE && self != Self::READ && self != Self::READ_DELETED
    }

    /// Returns the rights on a type that the rules grant together.
    ///
    /// A webhook receives the events of all types and may change the data of any request. So
    /// creating or changing one requires all rights on all types.
    pub fn granted(rules: &[Rule], content_type: &str) -> Self {
        let granted = Self::of_rules(rules.iter().filter(|rule| rule.covers(content_type)));
        if content_type == WEBHOOKS
            && Self::of_rules(rules.iter().filter(|rule| rule.covers_all_types())) != Self::ALL
        {
            return Self(granted.0 & (Self::READ | Self::DELETE).0);
        }
        granted
    }

    fn of_rules<'r>(rules: impl Iterator<Item = &'r Rule>) -> Self {
        let rights = |rule: &Rule| {
            let right = |given: bool, access: Self| if given { access } else { Self::NONE };
            right(rule.create, Self::CREATE)
                | right(rule.read, Self::READ)
                | right(rule.update, Self::UPDATE)
                | right(rule.delete, Self::DELETE)
        };
        rules.fold(Self::NONE, |sum, rule| sum | rights(rule))
    }
}

impl BitOr for Access {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// The permission that a request needs, known before its body is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission<'a> {
    /// A valid key, session or preview token.
    AnyCaller,
    /// A session, regardless of the role of its user.
    Session,
    /// Any caller except read-only keys, viewers and preview tokens.
    AnyWriter,
    /// Rights on the objects of a type.
    Content { content_type: &'a str, needs: Access },
    /// Start bulk jobs: read, and update or delete; the body says which.
    Bulk { content_type: &'a str },
    /// Publish, unpublish and archive objects of a type: update and the publishing right.
    Publish { content_type: &'a str },
    /// Run GraphQL queries: read access to at least one type.
    GraphQl,
    /// Read the definition of a type.
    ReadType { content_type: &'a str },
    /// Rights on the shared views of a type. As on the routes of definitions, the path identifies the
    /// type by name, id or unique label.
    Views { content_type: &'a str, needs: Access },
    /// Change the definition of a type.
    ChangeType { content_type: &'a str },
    /// Plan a project, which changes nothing.
    PlanTypes,
    /// Create types, apply a project, purge all content.
    AdministerTypes,
    /// Manage keys and the server.
    Admin,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_add_up_and_webhooks_need_all_rights() {
        let rule = |text: &str| {
            let (content_type, rights) = text.split_once(':').unwrap();
            Rule {
                content_type: content_type.to_owned(),
                create: rights.contains('c'),
                read: rights.contains('r'),
                update: rights.contains('u'),
                delete: rights.contains('d'),
            }
        };
        for (rules, content_type, expected) in [
            ("", "post", Access::NONE),
            ("post:c *:r tag:u", "post", Access::CREATE | Access::READ),
            ("post:crud", "tag", Access::NONE),
            ("*:c", "_webhooks", Access::NONE),
            ("*:crd", "_webhooks", Access::READ_DELETED),
            ("_webhooks:crud", "_webhooks", Access::READ_DELETED),
            ("_webhooks:crud *:cru", "_webhooks", Access::READ_DELETED),
            ("*:crud", "_webhooks", Access::ALL),
            ("*:cu *:rd", "_webhooks", Access::ALL),
        ] {
            let given: Vec<Rule> = rules.split_whitespace().map(rule).collect();
            assert_eq!(Access::granted(&given, content_type), expected, "{rules} {content_type}");
        }
    }
}
