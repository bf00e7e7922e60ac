//! Selects the users of a list and sorts them. There are few users, so a list reads all of them.

use crate::{
    query::value::fold,
    user::profile::email_key,
    wire::{
        object::Direction,
        user::{User, UserListRequest, UserOrder},
    },
};

/// Returns the users of a list, in its order.
pub fn select(mut users: Vec<User>, request: &UserListRequest) -> Vec<User> {
    let text = request.q.as_deref().map(fold);
    users.retain(|user| {
        let contains =
            |text: &String| [&user.email, &user.name].iter().any(|part| fold(part).contains(text));
        text.as_ref().is_none_or(contains)
            && request.role.as_ref().is_none_or(|role| user.role.as_str() == role)
            && request.disabled.is_none_or(|disabled| user.disabled == disabled)
    });
    users.sort_by_cached_key(|user| email_key(&user.email));
    let compare = |a: &User, b: &User| match request.order_by {
        UserOrder::Email => email_key(&a.email).cmp(&email_key(&b.email)),
        UserOrder::Name => a.name.to_lowercase().cmp(&b.name.to_lowercase()),
        // Dates have one format, in which their order is that of the texts.
        UserOrder::CreatedAt => a.created_at.cmp(&b.created_at),
        UserOrder::LastSeenAt => a.last_seen_at.cmp(&b.last_seen_at),
        UserOrder::Role => (a.role as u8).cmp(&(b.role as u8)),
    };
    match request.direction {
        Direction::Ascending => users.sort_by(compare),
        Direction::Descending => users.sort_by(|a, b| compare(b, a)),
    }
    users
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::user::Role;

    fn user(email: &str, name: &str, role: Role, seen: Option<&str>) -> User {
        User {
            id: String::new(),
            email: email.to_owned(),
            name: name.to_owned(),
            role,
            rules: Vec::new(),
            may_publish: false,
            disabled: role == Role::Viewer,
            has_password: true,
            open_id: false,
            pending_link: None,
            created_at: String::new(),
            last_seen_at: seen.map(str::to_owned),
        }
    }

    #[test]
    fn part_of_a_name_is_found_in_any_letter_case() {
        for q in ["οδυσ", "ΟΔΥΣ", "Σσ"] {
            let request = UserListRequest { q: Some(q.to_owned()), ..UserListRequest::default() };
            let users = vec![user("o@x", "ΟΔΥΣΣΕΑΣ", Role::Editor, None)];
            assert_eq!(select(users, &request).len(), 1, "{q}");
        }
    }

    fn selected(request: &UserListRequest) -> Vec<String> {
        let users = vec![
            user("b@x", "Ändi", Role::Editor, None),
            user("C@x", "zoe", Role::Viewer, Some("2")),
            user("a@x", "Zoe", Role::Editor, Some("1")),
        ];
        select(users, request).into_iter().map(|user| user.email).collect()
    }

    #[test]
    fn list_is_filtered_and_ordered() {
        let all = UserListRequest::default();
        assert_eq!(selected(&all), ["a@x", "C@x", "b@x"]);
        let ordered =
            |order_by, direction| selected(&UserListRequest { order_by, direction, ..all.clone() });
        assert_eq!(ordered(UserOrder::Email, Direction::Descending), ["C@x", "b@x", "a@x"]);
        assert_eq!(ordered(UserOrder::LastSeenAt, Direction::Ascending), ["b@x", "a@x", "C@x"]);
        assert_eq!(ordered(UserOrder::Name, Direction::Descending), ["b@x", "a@x", "C@x"]);
        assert_eq!(ordered(UserOrder::Role, Direction::Ascending), ["a@x", "b@x", "C@x"]);
        assert_eq!(ordered(UserOrder::Role, Direction::Descending), ["C@x", "a@x", "b@x"]);
        let q = |text: &str| selected(&UserListRequest { q: Some(text.to_owned()), ..all.clone() });
        assert_eq!(q("äN"), ["b@x"]);
        assert_eq!(q("c@"), ["C@x"]);
        let role = Some("editor".to_owned());
        assert_eq!(selected(&UserListRequest { role, ..all.clone() }), ["a@x", "b@x"]);
        assert_eq!(selected(&UserListRequest { disabled: Some(true), ..all.clone() }), ["C@x"]);
        assert!(selected(&UserListRequest { role: Some("x".to_owned()), ..all }).is_empty());
    }
}
