//! Deliveries compared with a model of the rules, under failures, delays and kills of the sender.

use cms_core::{
    Caller, Dispatch, Exchange, WebhookOutcome, testing::TestCms, wire::webhook::ReplayRequest,
};
use proptest::{prelude::*, sample::select};
use serde_json::json;

use crate::{
    support::{article, map, with_type},
    webhooks::{create, webhook},
};

#[derive(Clone, Debug)]
enum Step {
    /// A change of an object: one more delivery.
    Change(usize),
    /// The sender starts all requests that are due.
    Send,
    /// A request in flight gets a response.
    Respond(usize, u16),
    Wait(i64),
    /// The process is killed: the outcome of requests in flight is unknown.
    Kill,
    Replay,
    GiveUp,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let statuses = select(vec![200, 200, 204, 400, 404, 500, 503, 0, 0]);
    let seconds = select(vec![1, 9, 10, 60, 119, 600, 21_600, 100_000, 259_200]);
    let step = prop_oneof![
        4 => (0..5_usize).prop_map(Step::Change),
        6 => Just(Step::Send),
        8 => (0..4_usize, statuses).prop_map(|(which, status)| Step::Respond(which, status)),
        4 => seconds.prop_map(Step::Wait),
        1 => Just(Step::Kill),
        1 => Just(Step::Replay),
        1 => Just(Step::GiveUp),
    ];
    prop::collection::vec(step, 10..80)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Pending,
    Done,
    Failed,
}

#[derive(Clone, Debug)]
struct Delivery {
    object: usize,
    state: State,
    attempts: u32,
    created: i64,
    due: i64,
    expiry_start: Option<i64>,
    outage: bool,
}

/// The rules, on plain values. Times are seconds.
#[derive(Default)]
struct Model {
    now: i64,
    deliveries: Vec<Delivery>,
    running: Vec<usize>,
    /// While the endpoint is down: failed probes, and the time of the next one.
    down: Option<(u32, i64)>,
}

const THREE_DAYS: i64 = 3 * 86_400;

fn backoff(failures: u32, longest: i64) -> i64 {
    if failures <= 1 { 10 } else { (60 << (failures - 2).min(20)).min(longest) }
}

impl Model {
    fn pending(&self) -> impl Iterator<Item = usize> {
        (0..self.deliveries.len()).filter(|index| self.deliveries[*index].state == State::Pending)
    }

    /// The first pending delivery of each object.
    fn heads(&self) -> Vec<usize> {
        let mut heads: Vec<usize> = Vec::new();
        for index in self.pending() {
            let object = self.deliveries[index].object;
            if !heads.iter().any(|head| self.deliveries[*head].object == object) {
                heads.push(index);
            }
        }
        heads
    }

    fn start_expiry_of_heads(&mut self) {
        for head in self.heads() {
            let now = self.now;
            self.deliveries[head].expiry_start.get_or_insert(now);
        }
    }

    fn change(&mut self, object: usize) {
        let (created, due) = (self.now, self.now);
        let (state, expiry_start) = (State::Pending, None);
        let delivery =
            Delivery { object, state, attempts: 0, created, due, expiry_start, outage: false };
        self.deliveries.push(delivery);
        self.start_expiry_of_heads();
    }

    fn next(&self) -> Option<usize> {
        if let Some((_, resume)) = self.down {
            let may_probe = self.running.is_empty() && resume <= self.now;
            return self.pending().next().filter(|_| may_probe);
        }
        let is_running =
            |object| self.running.iter().any(|index| self.deliveries[*index].object == object);
        let is_due = |head: &usize| {
            let delivery = &self.deliveries[*head];
            delivery.due <= self.now && !is_running(delivery.object)
        };
        let heads = self.heads().into_iter().filter(is_due);
        heads
            .min_by_key(|head| (self.deliveries[*head].due, *head))
            .filter(|_| self.running.len() < 4)
    }

    fn send(&mut self) -> Vec<usize> {
        let mut sent = Vec::new();
        while let Some(next) = self.next() {
            self.running.push(next);
            sent.push(next);
        }
        sent
    }

    fn respond(&mut self, index: usize, status: u16) {
        self.running.retain(|running| *running != index);
        let now = self.now;
        let delivery = &mut self.deliveries[index];
        delivery.attempts += 1;
        let is_success = (200..300).contains(&status);
        delivery.outage = status == 0 || status >= 500;
        let is_outage = delivery.outage;
        if is_success {
            delivery.state = State::Done;
        } else if delivery.state != State::Pending
            || delivery.expiry_start.unwrap_or(now) + THREE_DAYS <= now
        {
            delivery.state = State::Failed;
        } else {
            delivery.due = now + backoff(delivery.attempts, 21_600);
        }
        let is_probe = self.down.is_some_and(|(_, resume)| resume <= now);
        if is_success || (is_probe && !is_outage) {
            for delivery in &mut self.deliveries {
                delivery.outage = false;
            }
            if self.down.take().is_some() {
                self.release_heads_except(Some(index));
            }
        } else if let (true, Some((probes, _))) = (is_probe, self.down) {
            self.down = Some((probes + 1, now + backoff(probes + 2, 600)));
        } else if is_outage && self.down.is_none() {
            let mut objects: Vec<usize> =
                self.deliveries.iter().filter(|one| one.outage).map(|one| one.object).collect();
            objects.sort_unstable();
            objects.dedup();
            if objects.len() >= 2 {
                self.down = Some((0, now + 10));
            }
        }
        self.start_expiry_of_heads();
    }

    fn release_heads_except(&mut self, other: Option<usize>) {
        for head in self.heads() {
            let delivery = &mut self.deliveries[head];
            if Some(head) != other {
                delivery.due = delivery.created;
            }
        }
    }

    fn replay(&mut self) {
        self.release_heads_except(None);
        self.down = None;
        for delivery in &mut self.deliveries {
            delivery.outage = false;
            if delivery.state == State::Failed {
                let (due, expiry_start) = (delivery.created, None);
                let (state, attempts) = (State::Pending, 0);
                *delivery = Delivery { state, attempts, due, expiry_start, ..delivery.clone() };
            }
        }
        // A delivery behind a replayed one expires three days after that one is done.
        let heads = self.heads();
        for (index, delivery) in self.deliveries.iter_mut().enumerate() {
            if !heads.contains(&index) {
                delivery.expiry_start = None;
            }
        }
        self.start_expiry_of_heads();
    }

    fn expire(&mut self) {
        loop {
            let expired: Vec<usize> = self
                .heads()
                .into_iter()
                .filter(|head| {
                    let since = self.deliveries[*head].expiry_start;
                    since.is_some_and(|since| since + THREE_DAYS <= self.now)
                })
                .collect();
            if expired.is_empty() {
                return;
            }
            for index in expired {
                self.deliveries[index].state = State::Failed;
            }
            self.start_expiry_of_heads();
        }
    }

    /// Status and attempts of each delivery, as the log shows them.
    fn log(&self) -> Vec<(String, u32)> {
        let status = |delivery: &Delivery| match delivery.state {
            State::Done => "done",
            State::Failed => "failed",
            State::Pending if delivery.attempts >= 3 => "error",
            State::Pending => "pending",
        };
        let entry = |delivery: &Delivery| (status(delivery).to_owned(), delivery.attempts);
        self.deliveries.iter().rev().map(entry).collect()
    }
}

/// A server with one webhook, and the requests of its sender that are in flight.
struct System {
    test: TestCms,
    running: Vec<Dispatch>,
}

impl System {
    fn new() -> Self {
        let test = with_type(article());
        create(
            &test,
            "_webhooks",
            webhook("hook", &json!({ "actions": [{ "action": "Update" }] })),
        );
        for object in 0..5 {
            create(
                &test,
                "article",
                json!({ "id": object.to_string(), "title": object.to_string() }),
            );
        }
        Self { test, running: Vec::new() }
    }

    fn change(&self, object: usize) {
        let rank = map(json!({ "rank": 1 }));
        let objects = self.test.cms.objects();
        objects.patch(&Caller::local(), "article", &object.to_string(), rank).unwrap();
        while self.test.cms.webhooks().create_deliveries().unwrap() {}
    }

    fn send(&mut self) -> Vec<usize> {
        let due = self.test.cms.webhooks().due(None, &self.running).unwrap();
        for dispatch in &due {
            self.running.push(dispatch.clone());
        }
        due.iter().map(|dispatch| usize::try_from(dispatch.delivery).unwrap() - 1).collect()
    }

    fn respond(&mut self, which: usize, status: u16) {
        let dispatch = self.running.remove(which);
        let webhooks = self.test.cms.webhooks();
        let Some(outgoing) = webhooks.outgoing(&dispatch).unwrap() else { return };
        let outcome = match status {
            0 => WebhookOutcome::NoResponse("no response within the timeout".to_owned()),
            status => WebhookOutcome::Response(status, Vec::new()),
        };
        webhooks.record(outgoing, outcome, Exchange::default()).unwrap();
    }

    fn log(&self) -> Vec<(String, u32)> {
        let page = cms_core::paging::PageRequest { number: 1, limit: 1000 };
        let log = self.test.cms.webhooks().log(&Caller::local(), "hook", page).unwrap();
        log.data.into_iter().map(|entry| (entry.status, entry.attempts)).collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn deliveries_follow_the_model(steps in steps()) {
        let (mut model, mut system) = (Model::default(), System::new());
        for step in &steps {
            match *step {
                Step::Change(object) => {
                    model.change(object);
                    system.change(object);
                }
                Step::Send => prop_assert_eq!(system.send(), model.send()),
                Step::Respond(which, status) => {
                    let running = model.running.len();
                    if running > 0 {
                        let index = model.running[which % running];
                        // The delivery may have been given up or replayed meanwhile.
                        if model.deliveries[index].state == State::Pending {
                            model.respond(index, status);
                        } else {
                            model.running.retain(|other| *other != index);
                        }
                        system.respond(which % running, status);
                    }
                }
                Step::Wait(seconds) => {
                    model.now += seconds;
                    system.test.clock.advance(seconds);
                }
                Step::Kill => {
                    model.running.clear();
                    system.running.clear();
                }
                Step::Replay => {
                    model.replay();
                    let all = ReplayRequest::default();
                    system.test.cms.webhooks().replay(&Caller::local(), "hook", &all).unwrap();
                }
                Step::GiveUp => {
                    model.expire();
                    while system.test.cms.webhooks().expire_deliveries().unwrap() {}
                }
            }
            prop_assert_eq!(system.log(), model.log(), "after {:?}", step);
        }
        // Finally, an endpoint that responds gets all deliveries.
        let mut left = 10_000;
        model.running.clear();
        system.running.clear();
        while model.pending().next().is_some() {
            model.now += 60;
            system.test.clock.advance(60);
            let sent = model.send();
            prop_assert_eq!(system.send(), sent);
            while let Some(index) = model.running.first().copied() {
                model.respond(index, 204);
                system.respond(0, 204);
            }
            prop_assert_eq!(system.log(), model.log());
            left -= 1;
            prop_assert!(left > 0);
        }
    }
}
