//! A row of the table of routes: method, path, permission, handler, and how the handler runs.

use axum::http::{Method, request::Parts};
use cms_core::{Access, Cms, Error, Result};

use super::permissions::RequiredPermission;
use crate::{
    http::{
        context::{RequestContext, UnauthenticatedRequest},
        openid,
    },
    net::permits::Work,
    response::{Response, error},
    state::App,
};

/// One route.
#[expect(clippy::struct_excessive_bools, reason = "independent properties of a route")]
pub struct Route {
    pub method: Method,
    /// Segments in braces are parameters; one with a star matches all segments that follow.
    pub path: &'static str,
    pub(crate) endpoint: Endpoint,
    pub(crate) execution: Execution,
    pub(crate) work: Work,
    pub(crate) body: BodyKind,
    /// Makes the response to an error of the checks or the handler.
    pub(crate) error_response: fn(Error) -> Response,
    /// Whether preview tokens are accepted.
    pub(crate) accepts_preview_tokens: bool,
    /// Whether the response cache is used for the route. It stores only responses that the handler
    /// marks by [`Response::cacheable`].
    pub(crate) is_cached: bool,
    /// Whether the response can be a stream with the progress; a plan or check stops when its client
    /// disconnects.
    pub(crate) has_progress: bool,
    /// Whether keys or sessions may have less access afterwards.
    pub(crate) revokes_access: bool,
    /// The query parameters of the route; `[]` at the end marks an array, `[*]` a map.
    pub(crate) query: &'static [&'static str],
}

/// The handler of a route, and the permission that the caller needs.
#[derive(Clone, Copy)]
pub(crate) enum Endpoint {
    /// Needs no authentication.
    Unauthenticated(UnauthenticatedHandler),
    /// Needs no authentication: an image, in several steps.
    Image,
    /// Needs no authentication, but a body: a request of the server's own pages.
    UnauthenticatedPost(UnauthenticatedPostHandler),
    /// Needs no authentication: a step of a sign-in by OpenID Connect, which sends requests to the
    /// issuer.
    OpenId(openid::OpenIdStep),
    /// Ends the session of the request, if there is one.
    SignOut,
    /// Needs any key or session: a page of changes, or a stream of them.
    Changes,
    /// Needs a key or session with a permission.
    Authenticated(RequiredPermission, Handler),
    /// A backup, which is streamed.
    Backup,
}

/// Where a handler runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Execution {
    /// On the thread of the connection: work of microseconds, where changing threads would take longer.
    /// A handler that would take longer ends with [`Error::WouldBlock`] and is run again as
    /// [`Self::Blocking`].
    Inline,
    /// On a thread that may block, with a permit.
    Blocking,
}

/// The body that a route reads. Another media type is refused; a route without a body ignores any body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BodyKind {
    None,
    Json,
    /// A GraphQL request: JSON of limited size.
    GraphQl,
    /// JSON of a few members, one of which is a secret: clients with too many failed sign-ins are
    /// refused before the body is read.
    Credentials,
    /// JSON with the settings of a user.
    Settings,
    /// A form with a file.
    Form,
}

/// Handles a request without authentication.
pub(crate) type UnauthenticatedHandler = fn(&App, &Parts) -> Response;

/// Handles a request with a body, without authentication.
pub(crate) type UnauthenticatedPostHandler = fn(&App, &UnauthenticatedRequest) -> Result<Response>;

/// Reads the request, calls the core once, makes the response.
pub(crate) type Handler = fn(&Cms, &mut RequestContext<'_>) -> Result<Response>;

impl Route {
    pub(super) const fn new(method: Method, path: &'static str, endpoint: Endpoint) -> Self {
        Self {
            method,
            path,
            endpoint,
            execution: Execution::Blocking,
            work: Work::Read,
            body: BodyKind::None,
            error_response: <Response as From<Error>>::from,
            accepts_preview_tokens: false,
            is_cached: false,
            has_progress: false,
            revokes_access: false,
            query: &[],
        }
    }

    /// A route that needs no authentication.
    pub(super) const fn unauthenticated(
        path: &'static str,
        handler: UnauthenticatedHandler,
    ) -> Self {
        Self::new(Method::GET, path, Endpoint::Unauthenticated(handler)).inline()
    }

    /// A route that needs no authentication, with credentials as JSON.
    pub(super) const fn unauthenticated_post(
        path: &'static str,
        handler: UnauthenticatedPostHandler,
        work: Work,
    ) -> Self {
        Self::new(Method::POST, path, Endpoint::UnauthenticatedPost(handler))
            .body(BodyKind::Credentials)
            .work(work)
    }

    /// A route that reads.
    pub(super) const fn get(
        path: &'static str,
        permission: RequiredPermission,
        handler: Handler,
    ) -> Self {
        Self::new(Method::GET, path, Endpoint::Authenticated(permission, handler))
    }

    /// A route that writes, with a JSON body.
    pub(super) const fn write(
        method: Method,
        path: &'static str,
        permission: RequiredPermission,
        handler: Handler,
    ) -> Self {
        Self::new(method, path, Endpoint::Authenticated(permission, handler))
            .body(BodyKind::Json)
            .work(Work::Write)
    }

    /// A route that stores a file of a form.
    pub(super) const fn upload(path: &'static str, handler: Handler) -> Self {
        let endpoint = Endpoint::Authenticated(RequiredPermission::Upload, handler);
        Self::new(Method::POST, path, endpoint).body(BodyKind::Form).work(Work::Upload)
    }

    /// A route for GraphQL queries, with errors in the body format of GraphQL.
    pub(super) const fn graphql(
        method: Method,
        path: &'static str,
        body: BodyKind,
        handler: Handler,
    ) -> Self {
        let endpoint = Endpoint::Authenticated(RequiredPermission::GraphQl, handler);
        let mut route = Self::new(method, path, endpoint).body(body);
        route.error_response = error::graphql;
        route
    }

    /// The same route, where a body of any type is ignored.
    pub(super) const fn without_body(self) -> Self {
        self.body(BodyKind::None)
    }

    /// The same route with another body.
    pub(super) const fn body(mut self, body: BodyKind) -> Self {
        self.body = body;
        self
    }

    /// The same route, which accepts preview tokens too.
    pub(super) const fn accepts_preview_tokens(mut self) -> Self {
        self.accepts_preview_tokens = true;
        self
    }

    /// The same route, whose responses are cached.
    pub(super) const fn cached(mut self) -> Self {
        self.is_cached = true;
        self
    }

    /// The same route, whose response can be a stream with its progress.
    pub(super) const fn with_progress(mut self) -> Self {
        self.has_progress = true;
        self
    }

    /// The same route, after which keys or sessions may have less access.
    pub(super) const fn revokes_access(mut self) -> Self {
        self.revokes_access = true;
        self
    }

    /// The same route, tried on the thread of the connection first.
    pub(super) const fn inline(mut self) -> Self {
        self.execution = Execution::Inline;
        self
    }

    /// The same route, never tried on the thread of the connection.
    pub(super) const fn blocking(mut self) -> Self {
        self.execution = Execution::Blocking;
        self
    }

    /// The same route as this kind of work on a thread that may block.
    pub(super) const fn work(mut self, work: Work) -> Self {
        self.work = work;
        self
    }

    /// The same route with its query parameters.
    pub(super) const fn query(mut self, names: &'static [&'static str]) -> Self {
        self.query = names;
        self
    }

    /// The query parameters of the route; `[]` at the end marks an array, `[*]` a map.
    pub fn query_parameters(&self) -> &'static [&'static str] {
        self.query
    }

    /// Returns whether the route needs no authentication.
    pub fn is_unauthenticated(&self) -> bool {
        matches!(
            self.endpoint,
            Endpoint::Unauthenticated(_)
                | Endpoint::UnauthenticatedPost(_)
                | Endpoint::OpenId(_)
                | Endpoint::Image
        )
    }

    /// Returns whether the route only reads content. Routes that administer the server, and the
    /// change feed, do not count: they always read the newest state.
    pub(crate) fn reads_content(&self) -> bool {
        let Endpoint::Authenticated(permission, _) = self.endpoint else { return false };
        let reads = [RequiredPermission::Content(Access::READ), RequiredPermission::GraphQl];
        !self.waits_for_commit() && (self.is_cached || reads.contains(&permission))
    }

    /// Returns whether another node may handle a request. These are all writes except
    /// - uploads, which go to the bucket from here;
    /// - sign-in and other requests that hash a password, because each node limits their number;
    /// - sign-out;
    /// - presence, which each node stores separately;
    /// - requests whose progress is a stream.
    pub(crate) fn may_be_forwarded(&self) -> bool {
        matches!(self.endpoint, Endpoint::Authenticated(..))
            && self.work == Work::Write
            && !self.has_progress
    }

    /// Returns whether the handler waits for a commit: then its response is sent even if the memory for
    /// responses is used up.
    pub(crate) fn waits_for_commit(&self) -> bool {
        matches!(self.work, Work::Write | Work::Password | Work::Upload)
    }
}
